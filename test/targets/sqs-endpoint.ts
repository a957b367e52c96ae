/** A small Amazon SQS for tests: takes SendMessage in the JSON protocol, checks its signature by computing it again, and answers with the MD5 of the body. */
import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface SentMessage {
  readonly QueueUrl: string
  readonly MessageBody: string
  readonly MessageDeduplicationId?: string
  readonly MessageGroupId?: string
  readonly MessageAttributes?: Record<string, { DataType: string; StringValue: string }>
}

export interface Refusal {
  readonly status: number
  readonly type: string
  readonly message?: string
}

export const credentials = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'marker-secret-key',
  sessionToken: 'marker-token',
}
export const region = 'eu-central-1'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/** The signature of AWS, version 4, of what arrived; in our own words from AWS's description of it. */
function signatureOf({ method, url, headers }: IncomingMessage, body: string): string {
  const [, scope = '', names = ''] =
    /^AWS4-HMAC-SHA256 Credential=[^/]+\/([^,]+), SignedHeaders=([^,]+), /.exec(headers.authorization ?? '') ?? []
  const signed = names.split(';').map((name) => `${name}:${String(headers[name]).trim().replaceAll(/ +/g, ' ')}\n`)
  const [path = '', query = ''] = String(url).split('?')
  const canonical = [method, path, query, signed.join(''), names, sha256(body)].join('\n')
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n')
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${credentials.secretAccessKey}`)
  return createHmac('sha256', key).update(toSign).digest('hex')
}

export interface SqsEndpoint extends AsyncDisposable {
  readonly origin: string
  /** Those that were signed rightly. */
  readonly messages: SentMessage[]
  readonly requests: { readonly target: string; readonly scope: string; readonly token: string }[]
  /** The answers to the next requests, in their order. */
  readonly refusals: (Refusal | 'wrong-md5' | 'hang')[]
}

export async function openSqs(): Promise<SqsEndpoint> {
  const messages: SentMessage[] = []
  const requests: SqsEndpoint['requests'] = []
  const refusals: SqsEndpoint['refusals'] = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const answer = (status: number, json: object): void => {
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0', 'x-amzn-requestid': 'r-1' })
      response.end(JSON.stringify(json))
    }
    const { authorization = '' } = request.headers
    requests.push({
      target: String(request.headers['x-amz-target']),
      scope: /Credential=([^,]+)/.exec(authorization)?.[1] ?? '',
      token: String(request.headers['x-amz-security-token']),
    })
    if (/Signature=(\w+)/.exec(authorization)?.[1] !== signatureOf(request, body)) {
      return answer(403, {
        __type: 'com.amazon.coral.service#SignatureDoesNotMatch',
        message: JSON.stringify(request.headers),
      })
    }
    const next = refusals.shift()
    if (next === 'hang') return
    if (next !== undefined && next !== 'wrong-md5') {
      return answer(next.status, { __type: `com.amazonaws.sqs#${next.type}`, message: next.message ?? 'no' })
    }
    const sent: SentMessage = JSON.parse(body)
    messages.push(sent)
    const MD5OfMessageBody = createHash('md5')
      .update(next === 'wrong-md5' ? 'other' : sent.MessageBody)
      .digest('hex')
    const isFifo = sent.QueueUrl.endsWith('.fifo')
    answer(200, { MessageId: `m-${messages.length}`, MD5OfMessageBody, ...(isFifo ? { SequenceNumber: '18849' } : {}) })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    messages,
    requests,
    refusals,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
