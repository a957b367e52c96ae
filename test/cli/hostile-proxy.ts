/** A server between the program and a real one that spoils every answer in one way: control characters in all texts, wrong types, bodies without an end, redirects in a circle. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Everything a terminal or a table might obey, and a line of its own. */
export const EVIL =
  'x\r\n\tFORGED\nFORGED\u001b]52;c;aGk=\u0007\u001b]8;;http://x\u001b\\\u001b[2J\u009b2J\u009d\u0085\u2028\u2029\u202e\u2066\u200f\u200b\ufeff\ud800\u0000%s%d%c\u007f'

export const SPOILS = ['texts', 'instants', 'names', 'nothing', 'lists', 'refusals', 'codes', 'numbers'] as const
export type Spoil = (typeof SPOILS)[number]

export const BODIES = [
  'endless',
  'endless events',
  'no JSON',
  'HTML',
  'cut off',
  'deep',
  'redirect loop',
  'redirect away',
  'same page',
  'empty pages',
  'hangs up',
] as const
export type BodyKind = (typeof BODIES)[number]

export interface HostileProxy extends AsyncDisposable {
  readonly url: string
  kind: Spoil | BodyKind
  readonly requests: number
}

const INSTANT = /^\d{4}-\d\d-\d\dT/
const UUID = /^[0-9a-f]{8}-/

function spoiled(value: unknown, kind: Spoil): unknown {
  if (Array.isArray(value)) {
    if (kind === 'lists') return { length: -1, map: EVIL, [EVIL]: EVIL }
    return value.map((each) => spoiled(each, kind))
  }
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [
        kind === 'names' && /data|payload|result|counts|settings|details/.test(key) ? EVIL : key,
        spoiled(each, kind),
      ]),
    )
  if (kind === 'nothing') return null
  if (typeof value === 'string') {
    if (kind === 'texts' && !INSTANT.test(value)) return UUID.test(value) ? value : value + EVIL
    if (kind === 'instants' && INSTANT.test(value)) return value + EVIL
    return value
  }
  if (kind === 'numbers' && typeof value === 'number') return `${value}${EVIL}`
  if (kind === 'numbers' && typeof value === 'boolean') return EVIL
  return value
}

export async function hostileProxy(target: string): Promise<HostileProxy> {
  let requests = 0
  const proxy = { kind: 'texts' as Spoil | BodyKind }
  const server = createServer((request, response) => {
    requests += 1
    answer(request, response, proxy.kind, target).catch(() => response.destroy())
  })
  server.on('clientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get kind() {
      return proxy.kind
    },
    set kind(kind) {
      proxy.kind = kind
    },
    get requests() {
      return requests
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

async function answer(request: IncomingMessage, response: ServerResponse, kind: Spoil | BodyKind, target: string) {
  const body = await textOf(request)
  const json = { 'content-type': 'application/json' }
  switch (kind) {
    case 'endless':
      return pour(response.writeHead(200, json), '[[[[[[[["', 'x'.repeat(65_536))
    case 'endless events':
      return pour(
        response.writeHead(200, { 'content-type': 'text/event-stream' }),
        'event: log\ndata: ',
        EVIL.replaceAll('\n', ''),
      )
    case 'no JSON':
      return response.writeHead(200, json).end(`{"a": ${EVIL}`)
    case 'HTML':
      return response.writeHead(200, { 'content-type': 'text/html' }).end(`<script>${EVIL}</script>`)
    case 'cut off':
      response.writeHead(200, { ...json, 'content-length': '100' }).write('{"data": [')
      return void setImmediate(() => response.destroy())
    case 'deep':
      return response.writeHead(200, json).end('['.repeat(1_000_000))
    case 'redirect loop':
      return response.writeHead(307, { location: request.url! }).end()
    case 'redirect away':
      return response.writeHead(302, { location: 'http://169.254.169.254/\u009b2J\u0085' }).end()
    case 'same page':
      return response.writeHead(200, json).end('{"data":[{"id":"x"}],"page":{"next":"c"}}')
    case 'empty pages':
      return response.writeHead(200, json).end(`{"data":[],"page":{"next":"${requestsSeen++}"}}`)
    case 'hangs up':
      return response.destroy()
    case 'refusals':
      return response
        .writeHead(409, 'no\u009b2J', json)
        .end(JSON.stringify({ code: 'NOT_FOUND', detail: EVIL, hint: EVIL, errors: [{ hint: EVIL }] }))
    case 'codes':
      return response
        .writeHead(500, json)
        .end(JSON.stringify({ code: EVIL, detail: { toString: EVIL }, hint: 3, errors: EVIL }))
  }
  const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers as Record<string, string>
  const real = await fetch(target + request.url, {
    method: request.method!,
    headers,
    ...(body === '' ? {} : { body }),
  })
  const type = real.headers.get('content-type') ?? 'application/json'
  response.writeHead(real.status, { 'content-type': type })
  if (type.includes('event-stream')) {
    for await (const part of real.body!)
      response.write(
        Buffer.from(part)
          .toString()
          .replaceAll(/^data: (.*)$/gm, (_, data: string) => `data: ${spoiledText(data, kind)}`),
      )
    return response.end()
  }
  const text = await real.text()
  return response.end(
    real.status === 204
      ? ''
      : text
          .split('\n')
          .map((line) => spoiledText(line, kind))
          .join('\n'),
  )
}

let requestsSeen = 0

const spoiledText = (text: string, kind: Spoil): string => {
  try {
    return JSON.stringify(spoiled(JSON.parse(text), kind))
  } catch {
    return text
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const part of request) text += String(part)
  return text
}

/** As much as the other side takes, until it hangs up. */
function pour(response: ServerResponse, head: string, part: string): void {
  response.write(head)
  const more = (): void => {
    while (!response.destroyed && response.write(part));
  }
  response.on('drain', more)
  more()
}
