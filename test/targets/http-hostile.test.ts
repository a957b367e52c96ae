/** Endpoints that mean harm, or are just broken: each ends in the outcome that is documented, costs little, and leaves nothing open. */
import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type HttpOptions, type HttpResult, http, type RunView } from '../../src/index.ts'
import { type Endpoint, endpoint, rawEndpoint, started } from './http-endpoint.ts'

const retry = { attempts: 2, backoff: 'fixed', base: '1ms', max: '1ms' } as const
const MEGABYTE = 1024 * 1024

const unhandled: unknown[] = []
const keep = (reason: unknown): void => void unhandled.push(reason)
beforeAll(() => {
  process.on('unhandledRejection', keep).on('uncaughtException', keep)
})
afterAll(() => {
  process.off('unhandledRejection', keep).off('uncaughtException', keep)
  expect(unhandled).toEqual([])
})

async function called(there: Endpoint, options: Partial<HttpOptions<undefined, string>> = {}) {
  const job = http({ name: 'tick', url: there.url, allowPrivate: true, retry, timeout: '20s', ...options })
  await using place = await started([job])
  const run = (await place.app.runs.wait(await place.app.enqueue(job))) as RunView<HttpResult>
  const journal = await place.app.runs.journal(run.id)
  return { run, journal }
}

/** Says the same to everybody, once they have asked. */
const saying = (text: string, then: (socket: Socket) => void = () => {}): Promise<Endpoint> =>
  rawEndpoint((socket) => {
    socket.once('data', () => {
      socket.write(text, 'latin1')
      then(socket)
    })
  })

const end = (socket: Socket): void => void socket.end()
/** Goes on without end, as fast as it is read; answers how much was taken. */
function flood(socket: Socket, chunk: Buffer, limit = Number.POSITIVE_INFINITY): { readonly bytes: number } {
  const sent = { bytes: 0 }
  const more = (): void => {
    while (!socket.destroyed && sent.bytes < limit) {
      sent.bytes += chunk.length
      if (!socket.write(chunk)) return void socket.once('drain', more)
    }
  }
  more()
  return sent
}

describe('an endpoint that', () => {
  it.each([
    ['closes without a word', '', 'UND_ERR_SOCKET'],
    ['closes within the headers', 'HTTP/1.1 200 OK\r\ncontent-type: te', 'UND_ERR_SOCKET'],
    ['closes within the body', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf', 'UND_ERR_SOCKET'],
    ['closes within a chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\nhalf', 'UND_ERR_SOCKET'],
    ['sends a header without a name', 'HTTP/1.1 200 OK\r\n: nameless\r\n\r\n', 'NOT_HTTP'],
    ['sends a header that breaks the line', 'HTTP/1.1 200 OK\r\na: b\rc: d\r\n\r\n', 'NOT_HTTP'],
    ['sends a NUL in a header', 'HTTP/1.1 200 OK\r\na: \0\r\ncontent-length: 0\r\n\r\n', 'NOT_HTTP'],
    [
      'sends two lengths',
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nabc',
      /^(NOT_HTTP|UND_ERR)/,
    ],
    ['sends a length that is none', 'HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\nabc', 'NOT_HTTP'],
    ['sends a status that is none', 'HTTP/1.1 2000 OK\r\n\r\n', 'NOT_HTTP'],
    ['speaks another protocol', '220 mail.example.com ESMTP\r\n', 'NOT_HTTP'],
    ['sends a chunk of no size', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', 'NOT_HTTP'],
    [
      'switches to another protocol',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n',
      /./,
    ],
  ])('%s has not answered', async (_, text, reason) => {
    await using there = await saying(text, end)
    const { run } = await called(there)
    expect(run).toMatchObject({ state: 'failed', attempt: 2, error: { name: 'HttpError', code: 'HTTP_TRANSPORT' } })
    expect(run.error!.detail).toEqual({ status: 0, reason: expect.stringMatching(reason) })
    await there.quiet()
  })

  it('refuses in half a sentence has refused all the same', async () => {
    await using there = await saying('HTTP/1.1 400 Bad Request\r\ncontent-length: 100\r\n\r\nhalf', end)
    const { run } = await called(there)
    expect(run).toMatchObject({
      state: 'failed',
      attempt: 1,
      error: { code: 'HTTP_400', detail: { status: 400, body: 'half', truncated: true } },
    })
  })

  it.each([
    ['drips', '.'],
    ['says no more', ''],
  ])('refuses and %s has refused all the same, and pauses the schedule if it said so', async (_, drop) => {
    const drips: NodeJS.Timeout[] = []
    await using there = await saying('HTTP/1.1 410 Gone\r\ncontent-length: 100000\r\n\r\ngone', (socket) => {
      if (drop !== '') drips.push(setInterval(() => socket.write(drop), 5))
    })
    const job = http({ name: 'tick', url: there.url, allowPrivate: true, retry, timeout: '150ms' })
    await using place = await started([job])
    const { app } = place
    const paused = new Promise<void>((resolve) => {
      app.on('schedule.paused', () => resolve())
    })
    await app.schedules.upsert({ key: 'yearly', cron: '0 0 1 1 *', job })
    expect(await app.runs.wait(await app.schedules.trigger('default', 'yearly'))).toMatchObject({
      state: 'failed',
      attempt: 1,
      error: { code: 'HTTP_410', detail: { status: 410, body: expect.stringMatching(/^gone/), truncated: true } },
    })
    await paused
    await there.quiet()
    for (const drip of drips) clearInterval(drip)
  })

  it('says more than its length counts up to its length, and is not spoken to again', async () => {
    await using there = await saying('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfineHTTP/1.1 500 Oh\r\n\r\n', end)
    const { run } = await called(there)
    expect(run).toMatchObject({ state: 'succeeded', result: { status: 200, body: 'fine', truncated: false } })
    await there.quiet()
  })

  it('sends headers without end is left', async () => {
    await using there = await saying(
      'HTTP/1.1 200 OK\r\n',
      (socket) => void flood(socket, Buffer.from(`a: ${'b'.repeat(1000)}\r\n`)),
    )
    const { run } = await called(there)
    expect(run).toMatchObject({
      state: 'failed',
      error: { code: 'HTTP_TRANSPORT', detail: { reason: expect.stringMatching(/OVERFLOW/) } },
    })
    await there.quiet()
  })

  it('sends 100 MB is heard for as long as something is kept of it', async () => {
    const floods: { readonly bytes: number }[] = []
    const chunk = Buffer.alloc(64 * 1024, 'x')
    await using there = await saying(
      `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: ${100 * MEGABYTE}\r\n\r\n`,
      (socket) => void floods.push(flood(socket, chunk, 100 * MEGABYTE)),
    )
    const before = process.memoryUsage()
    const { run } = await called(there)
    await there.quiet()
    const after = process.memoryUsage()
    expect(run).toMatchObject({ state: 'succeeded', result: { status: 200, body: 'x'.repeat(8192), truncated: true } })
    // What the kernel and the endpoint hold in between, but nothing near the whole.
    expect(floods[0]!.bytes).toBeLessThan(16 * MEGABYTE)
    expect(after.heapUsed + after.external - before.heapUsed - before.external).toBeLessThan(32 * MEGABYTE)
  })

  it('sends a body without end and without a length is left the same way', async () => {
    await using there = await saying('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', (socket) => {
      flood(socket, Buffer.from(`1000\r\n${'y'.repeat(0x1000)}\r\n`))
    })
    const { run } = await called(there)
    expect(run).toMatchObject({ state: 'succeeded', result: { body: 'y'.repeat(8192), truncated: true } })
    await there.quiet()
  })

  it('answers with more than is kept, but not much, keeps its connection', async () => {
    await using there = await endpoint((response) => void response.end('z'.repeat(20_000)))
    const job = http({ url: there.url, allowPrivate: true })
    await using place = await started([job])
    for (let i = 0; i < 3; i++) {
      expect(await place.app.runs.wait(await place.app.enqueue(job))).toMatchObject({ result: { truncated: true } })
    }
    expect(there.connections).toBe(1)
  })

  it('sends a bomb of gzip does not see it unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(8 * MEGABYTE))
    await using there = await endpoint(
      (response) =>
        void response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/plain' }).end(bomb),
    )
    const { run } = await called(there)
    expect(run).toMatchObject({ state: 'succeeded', result: { status: 200, body: null } })
    expect(there.heard[0]!.headers['accept-encoding']).toBe('identity')
  })

  it('sends bytes that are no text has none of them stored', async () => {
    await using there = await endpoint(
      (response) => void response.end(Buffer.concat([Buffer.from([0, 255]), randomBytes(500)])),
    )
    expect((await called(there)).run).toMatchObject({ state: 'succeeded', result: { status: 200, body: null } })
  })

  it('sends text that is longer as JSON is cut to what can be stored', async () => {
    await using there = await endpoint((response) => void response.writeHead(500).end('"\\\n'.repeat(3000)))
    const { run } = await called(there)
    const { body, truncated } = run.error!.detail as unknown as HttpResult
    expect(truncated).toBe(true)
    expect(body!.length).toBeGreaterThan(4000)
  })

  it.each([
    ['never answers', () => {}],
    ['never ends its headers', (socket: Socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-type: ')],
    [
      'never ends its answer',
      (socket: Socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'),
    ],
    [
      'announces an answer again and again',
      (socket: Socket) => void flood(socket, Buffer.from('HTTP/1.1 103 Early Hints\r\n\r\n'), 65_536),
    ],
  ])('%s has timed out, and its connection is closed', async (_, then) => {
    await using there = await rawEndpoint((socket) => void socket.once('data', () => then(socket)))
    const { run, journal } = await called(there, { timeout: '150ms' })
    expect(run).toMatchObject({ state: 'failed', attempt: 2, error: { code: 'RUN_TIMEOUT' } })
    expect(journal).toHaveLength(1)
    await there.quiet()
  })

  it('drips has timed out, however often it drips', async () => {
    const drips: NodeJS.Timeout[] = []
    await using there = await saying('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n', (socket) => {
      drips.push(setInterval(() => socket.write('.'), 5))
    })
    const { run } = await called(there, { timeout: '150ms' })
    expect(run).toMatchObject({ state: 'failed', error: { code: 'RUN_TIMEOUT' } })
    await there.quiet()
    for (const drip of drips) clearInterval(drip)
  })

  it('answers after the timeout is not heard any more', async () => {
    const late: (() => void)[] = []
    await using there = await endpoint((response, _, nth) => {
      if (nth === 0) late.push(() => void response.end('too late'))
      else {
        for (const answer of late) answer()
        response.end('in time')
      }
    })
    const { run } = await called(there, { timeout: '200ms' })
    expect(run).toMatchObject({ state: 'succeeded', attempt: 2, result: { body: 'in time' } })
  })

  it('nobody listens at is told by a code, without its address', async () => {
    let url: string
    {
      await using gone = await endpoint()
      url = gone.url
    }
    const { run, journal } = await called({ url } as Endpoint)
    expect(run).toMatchObject({ error: { code: 'HTTP_TRANSPORT', message: 'connection refused (ECONNREFUSED)' } })
    expect(JSON.stringify([run, journal])).not.toContain(new URL(url).port)
  })

  it('has a name server that is silent has timed out', async () => {
    const resolve = (): Promise<never> => new Promise(() => {})
    const url = 'http://nowhere.example.com/'
    const { run } = await called({ url } as Endpoint, { resolve, timeout: '100ms' })
    expect(run).toMatchObject({ state: 'failed', attempt: 2, error: { code: 'RUN_TIMEOUT' } })
  })

  it('leads to a private address after all is not called, and not tried again', async () => {
    await using there = await endpoint()
    const resolve = async (): Promise<{ address: string; family: number }[]> => [{ address: '127.0.0.1', family: 4 }]
    const url = `http://public.example.com:${new URL(there.url).port}/`
    const { run } = await called({ url } as Endpoint, { resolve, allowPrivate: false })
    expect(run).toMatchObject({ state: 'failed', attempt: 1, error: { code: 'TARGET_REFUSED' } })
    expect(there.connections).toBe(0)
  })

  it('repeats what it was told as a secret has it struck out of what is kept', async () => {
    await using there = await endpoint((response, { headers, text }) => {
      response.writeHead(500, { 'x-request-id': String(headers.authorization) })
      response.end(JSON.stringify({ headers, text }))
    })
    const secret = 'marker-of-a-signing-secret'
    const headers = { authorization: 'Bearer marker-of-a-token', 'x-api-key': { secret: 'KEY' } }
    const { run, journal } = await called(there, { headers, secret, secrets: { KEY: 'marker-of-a-key' } })
    const token = String(there.heard[1]!.headers['everytick-completion-token'])
    expect(there.heard[0]!.headers['x-api-key']).toBe('marker-of-a-key')
    const stored = JSON.stringify([run, journal])
    expect(stored).toContain('[redacted]')
    for (const word of ['marker-of', token]) expect(stored).not.toContain(word)
  })
})
