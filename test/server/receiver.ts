/** A receiver of webhooks on loopback that keeps what it hears and checks signatures by itself, and answers as it is told. */
import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

export interface Heard {
  readonly id: string
  readonly path: string
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** Whether it is signed with the secret. */
  readonly signed: boolean
  readonly body: {
    readonly type: string
    readonly data: { readonly alert: { readonly kind: string; readonly title: string } }
  }
}

export interface Receiver extends AsyncDisposable {
  readonly url: string
  readonly heard: Heard[]
  /** What it answers from now on. */
  answer: { status: number; headers?: Record<string, string>; body?: string }
  /** The next one that nobody has waited for yet. */
  next(): Promise<Heard>
  /** What was heard of one kind of rule, such as `alert.opened`. */
  of(kind: string): string[]
}

export async function receiver(): Promise<Receiver> {
  const heard: Heard[] = []
  let waitedFor = 0
  let arrived = (): void => {}
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { headers, url: path = '', method = '' } = request
      const text = Buffer.concat(chunks).toString('utf8')
      const id = String(headers['webhook-id'])
      const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64')
      const content = `${id}.${headers['webhook-timestamp']}.${text}`
      const signed = headers['webhook-signature'] === `v1,${createHmac('sha256', key).update(content).digest('base64')}`
      heard.push({ id, path, method, headers, text, signed, body: text === '' ? null : JSON.parse(text) })
      arrived()
      response.writeHead(self.answer.status, self.answer.headers).end(self.answer.body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const self: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    heard,
    answer: { status: 200 },
    async next() {
      const place = waitedFor++
      while (heard.length <= place) {
        await new Promise<void>((resolve) => {
          arrived = resolve
        })
      }
      return heard[place]!
    },
    of: (kind) => heard.filter(({ body }) => body.data.alert?.kind === kind).map(({ body }) => body.type),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return self
}
