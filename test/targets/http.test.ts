/** HTTP targets through a real app and a real endpoint: what is sent, what is kept, and what each answer means for the run. */
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Dispatch, type HttpOptions, type HttpResult, http, type RunView } from '../../src/index.ts'
import { createServer } from '../../src/server/app.ts'
import { endpoint, type HeardCall, STORES, started } from './http-endpoint.ts'

const NEW = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const OLD = `whsec_${Buffer.alloc(32, 2).toString('base64')}`
const soon = { attempts: 3, backoff: 'fixed', base: '1ms', max: '1ms' } as const
const inside = { allowPrivate: true, retry: soon } as const

/** Calls an endpoint once over an app of its own, and answers how the run ended. */
async function ended(options: HttpOptions<undefined, string>): Promise<RunView<HttpResult>> {
  const job = http({ ...inside, ...options })
  await using place = await started([job])
  return (await place.app.runs.wait(await place.app.enqueue(job))) as RunView<HttpResult>
}

const verified = (secret: string, { text, headers }: HeardCall): unknown =>
  new Webhook(secret).verify(text, headers as Record<string, string>)

describe.each(STORES)('an HTTP target on %s', (store) => {
  it('posts the facts of the occurrence with the payload, signed with both secrets', async () => {
    await using there = await endpoint()
    const payload = z.object({ account: z.string() })
    const job = http({ ...inside, name: 'tick', url: there.url, secret: [NEW, OLD], payload })
    await using place = await started([job], store)
    const { app } = place
    await app.schedules.upsert({ key: 'yearly', cron: '0 0 1 1 *', workspace: 't_1', job, payload: { account: 'a' } })
    const run = await app.runs.wait(await app.schedules.trigger('t_1', 'yearly'))
    expect(run).toMatchObject({ state: 'succeeded', result: { status: 200, body: 'fine', truncated: false } })

    const [call] = there.heard
    expect(call).toMatchObject({ method: 'POST', path: '/hook' })
    expect(call!.body).toEqual({
      run: run.id,
      schedule: { id: run.schedule!.id, key: 'yearly', workspace: 't_1' },
      scheduledAt: run.scheduledAt?.toISOString() ?? null,
      slot: expect.toSatisfy((slot) => slot === null || typeof slot.end === 'string'),
      attempt: 1,
      fence: run.fence,
      payload: { account: 'a' },
    })
    expect(call!.headers).toMatchObject({
      'webhook-id': run.id,
      'idempotency-key': run.id,
      'content-type': 'application/json',
      'user-agent': 'everytick',
      traceparent: expect.stringMatching(new RegExp(`^00-${run.id.replaceAll('-', '')}-[0-9a-f]{16}-01$`)),
      'everytick-completion-token': expect.stringMatching(/^evt_run_/),
    })
    for (const secret of [NEW, OLD]) expect(verified(secret, call!)).toEqual(call!.body)
    expect(() => verified(`whsec_${Buffer.alloc(32, 3).toString('base64')}`, call!)).toThrow('No matching signature')
  })

  it('tries again after a 500, under the same key and with a greater fence', async () => {
    await using there = await endpoint((response, _, nth) => void response.writeHead(nth === 0 ? 500 : 200).end('ok'))
    const job = http({ ...inside, name: 'tick', url: there.url })
    await using place = await started([job], store)
    const run = await place.app.runs.wait(await place.app.enqueue(job))
    expect(run).toMatchObject({ state: 'succeeded', attempt: 2 })
    const [first, second] = there.heard
    expect(second!.headers['idempotency-key']).toBe(first!.headers['idempotency-key'])
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id'])
    expect(second!.body.fence).toBeGreaterThan(first!.body.fence)
    expect([first!.body.attempt, second!.body.attempt]).toEqual([1, 2])
    const [retry] = await place.app.runs.journal(run.id)
    expect(JSON.stringify(retry)).toContain('HTTP_500')
  })

  it('leaves a run open that was answered with 202, until its token completes it', async () => {
    await using there = await endpoint(
      (response) => void response.writeHead(202, { location: '/jobs/1' }).end('accepted'),
    )
    const job = http({ ...inside, name: 'tick', url: there.url, publicUrl: 'https://everytick.example.com/' })
    await using place = await started([job], store)
    const { app } = place
    const server = createServer(app, { backgroundTasks: false })
    const handedOver = new Promise<void>((resolve) => {
      app.on('run.handed_over', () => resolve())
    })
    const handle = await app.enqueue(job)
    await handedOver
    expect(await app.runs.get(handle.id)).toMatchObject({ state: 'running', workerId: null })
    const { headers } = there.heard[0]!
    const url = new URL(String(headers['everytick-completion-url']))
    expect(url.href).toBe(`https://everytick.example.com/api/v1/runs/${handle.id}/complete`)
    const answer = await server.fetch(
      new Request(`http://localhost${url.pathname}`, {
        method: 'POST',
        headers: {
          host: 'localhost',
          'content-type': 'application/json',
          authorization: `Bearer ${headers['everytick-completion-token']}`,
        },
        body: JSON.stringify({ outcome: 'succeeded', result: { rows: 7 } }),
      }),
    )
    expect(answer.status).toBe(200)
    expect(await app.runs.wait(handle)).toMatchObject({ state: 'succeeded', attempt: 1, result: { rows: 7 } })
    expect(there.heard).toHaveLength(1)
  })

  it('pauses the schedule of an endpoint that is gone, with the reason', async () => {
    await using there = await endpoint((response) => void response.writeHead(410).end('moved to the moon'))
    const job = http({ ...inside, name: 'tick', url: there.url })
    await using place = await started([job], store)
    const { app } = place
    await app.schedules.upsert({ key: 'yearly', cron: '0 0 1 1 *', job })
    const paused = new Promise<void>((resolve) => {
      app.on('schedule.paused', () => resolve())
    })
    const run = await app.runs.wait(await app.schedules.trigger('default', 'yearly'))
    expect(run).toMatchObject({
      state: 'failed',
      attempt: 1,
      error: { code: 'HTTP_410', detail: { status: 410, body: 'moved to the moon' } },
    })
    await paused
    expect(await app.schedules.get('default', 'yearly')).toMatchObject({
      paused: { reason: expect.stringContaining('410') },
    })
  })
})

describe('the generic HTTP job', () => {
  const NAMES = {
    HOOK: `${NEW} ${OLD}`,
    TOKEN: { value: 'tok-marker-1', hosts: ['127.0.0.1'] },
    FAR: { value: 'tok-2', hosts: ['example.com'] },
    NEAR: { value: 'tok-3', hosts: ['127.0.0.1:1'] },
  }

  it('calls what its payload says, with secrets by name', async () => {
    await using there = await endpoint()
    const job = http({ ...inside, secrets: NAMES })
    expect(job.name).toBe('http')
    await using place = await started([job])
    const run = await place.app.runs.wait(
      await place.app.enqueue(job, {
        url: there.url,
        method: 'PUT',
        headers: { authorization: { secret: 'TOKEN', prefix: 'Bearer ' }, 'x-plain': 'p' },
        secret: 'HOOK',
        body: { n: 1 },
      }),
    )
    expect(run.state).toBe('succeeded')
    const [call] = there.heard
    expect(call).toMatchObject({
      method: 'PUT',
      headers: { authorization: 'Bearer tok-marker-1', 'x-plain': 'p' },
      body: { run: run.id, schedule: null, payload: { n: 1 } },
    })
    for (const secret of [NEW, OLD]) verified(secret, call!)
    expect(JSON.stringify(run)).not.toContain('tok-marker-1')
  })

  it.each([
    ['one that the worker does not have', 'NONE', 'no secret named "NONE"'],
    ['one that is for another host', 'FAR', 'not for this host'],
    ['one that is for another port', 'NEAR', 'not for this host'],
  ])('does not call with a secret that is %s', async (_, secret, words) => {
    await using there = await endpoint()
    const job = http({ ...inside, secrets: NAMES })
    await using place = await started([job])
    const handle = await place.app.enqueue(job, { url: there.url, headers: { 'x-token': { secret } } })
    expect(await place.app.runs.wait(handle)).toMatchObject({
      state: 'failed',
      error: { code: 'HTTP_SECRET_UNKNOWN', message: expect.stringContaining(words) },
    })
    expect(there.heard).toEqual([])
  })

  it.each([
    ['is not told without https', '', 'failed', 0],
    ['is told without https where its port is named', 'port', 'succeeded', 1],
  ])('has a secret for a host that %s', async (_, port, state, calls) => {
    await using there = await endpoint()
    const host = `hook.example.com:${new URL(there.url).port}`
    const secrets = { KEY: { value: 'tok-4', hosts: [port === '' ? 'hook.example.com' : host] } }
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
    const job = http({ ...inside, secrets, resolve })
    await using place = await started([job])
    const call = { url: `http://${host}/`, headers: { 'x-token': { secret: 'KEY' } } }
    expect(await place.app.runs.wait(await place.app.enqueue(job, call))).toMatchObject({ state })
    expect(there.heard).toHaveLength(calls)
  })

  it('sends a payload bare where it is asked to, and nothing with a GET', async () => {
    await using there = await endpoint()
    const job = http(inside)
    await using place = await started([job])
    const { app } = place
    await app.runs.wait(await app.enqueue(job, { url: there.url, envelope: false, body: { text: 'hi' } }))
    await app.runs.wait(await app.enqueue(job, { url: there.url, method: 'GET' }))
    const [bare, asked] = there.heard
    expect(bare!.body).toEqual({ text: 'hi' })
    expect(asked).toMatchObject({ method: 'GET', text: '' })
    expect(asked!.headers).not.toHaveProperty('content-type')
  })

  it.each([
    ['no address', {}],
    ['an address that cannot be read', { url: 'nonsense' }],
    ['another scheme', { url: 'file:///etc/passwd' }],
    ['a private address', { url: 'http://10.0.0.1/' }],
    ['an unknown field', { url: 'https://example.com', methd: 'GET' }],
    ['a method that is none', { url: 'https://example.com', method: 'TRACE' }],
    ['a header that breaks the line', { url: 'https://example.com', headers: { a: 'b\r\nc: d' } }],
    ['a header of ours', { url: 'https://example.com', headers: { 'Idempotency-Key': 'x' } }],
    ['a body where there can be none', { url: 'https://example.com', method: 'GET', body: 1 }],
  ])('refuses a payload with %s before it is stored', async (_, payload) => {
    const job = http()
    await using place = await started([job])
    await expect(place.app.enqueue(job, payload as { url: string })).rejects.toMatchObject({ code: 'PAYLOAD_INVALID' })
  })
})

describe('an answer', () => {
  it.each([
    [429, '120', 120_000],
    [503, '90', 90_000],
  ])('%i with Retry-After is heeded', async (status, seconds, ms) => {
    await using there = await endpoint((response) => void response.writeHead(status, { 'retry-after': seconds }).end())
    const job = http({ ...inside, name: 'tick', url: there.url })
    await using place = await started([job])
    const { app } = place
    const again = new Promise<void>((resolve) => {
      app.on('run.retry', () => resolve())
    })
    const before = new Date()
    const { id } = await app.enqueue(job)
    await again
    const run = await app.runs.get(id)
    expect(run).toMatchObject({ state: 'pending', attempt: 1 })
    expect(run!.dueAt.getTime() - before.getTime()).toBeGreaterThanOrEqual(ms - 1000)
  })

  it('that refuses the request itself ends the run, and keeps what was said', async () => {
    await using there = await endpoint(
      (response) => void response.writeHead(422, { 'content-type': 'text/plain', 'x-other': '1' }).end('no such field'),
    )
    expect(await ended({ url: there.url })).toMatchObject({
      state: 'failed',
      attempt: 1,
      error: {
        name: 'HttpError',
        message: 'the endpoint answered 422',
        code: 'HTTP_422',
        detail: { status: 422, headers: { 'content-type': 'text/plain' }, body: 'no such field', truncated: false },
      },
    })
    expect(there.heard).toHaveLength(1)
  })

  it('that points elsewhere is not followed unless that is asked for', async () => {
    await using last = await endpoint()
    await using first = await endpoint((response) => void response.writeHead(307, { location: last.url }).end())
    const run = await ended({ url: first.url })
    expect(run).toMatchObject({ state: 'failed', attempt: 3, error: { code: 'HTTP_307' } })
    expect(last.heard).toEqual([])
    const secret = 'a plain secret, long enough'
    expect(
      await ended({ url: first.url, redirects: 1, secret, headers: { authorization: 'Bearer abcdefgh' } }),
    ).toMatchObject({
      state: 'succeeded',
    })
    const [call] = last.heard
    expect(call!.headers).not.toHaveProperty('authorization')
    expect(call!.headers).not.toHaveProperty('everytick-completion-token')
    expect(
      new Webhook(secret, { format: 'raw' }).verify(call!.text, call!.headers as Record<string, string>),
    ).toBeTruthy()
  })

  it('keeps only headers that were asked for, and the first 8 KiB', async () => {
    await using there = await endpoint(
      (response) =>
        void response
          .writeHead(200, { 'x-kept': 'yes', 'set-cookie': 'a=b', 'content-type': 'text/plain' })
          .end('é'.repeat(10_000)),
    )
    const { result } = await ended({ url: there.url, keepHeaders: ['X-Kept'] })
    expect(result).toMatchObject({ status: 200, headers: { 'x-kept': 'yes' }, truncated: true })
    expect(result!.body).toBe('é'.repeat(4096))
  })
})

describe('calls', () => {
  it('use one connection again and again', async () => {
    await using there = await endpoint()
    const job = http({ ...inside, url: there.url })
    await using place = await started([job])
    for (let i = 0; i < 5; i++) await place.app.runs.wait(await place.app.enqueue(job))
    expect(there).toMatchObject({ connections: 1, heard: { length: 5 } })
  })

  it('are at most so many to one host at once', async () => {
    let open = 0
    let most = 0
    const waiting: (() => void)[] = []
    await using there = await endpoint((response) => {
      open++
      most = Math.max(most, open)
      waiting.push(() => {
        open--
        response.end()
      })
      // Whoever could come has come when two are here; the others need an answer first.
      if (open === 2) for (const answer of waiting.splice(0)) setImmediate(answer)
    })
    const job = http({ ...inside, url: there.url, maxPerHost: 2 })
    await using place = await started([job])
    const handles = await Promise.all(Array.from({ length: 6 }, () => place.app.enqueue(job)))
    for (const handle of handles) expect(await place.app.runs.wait(handle)).toMatchObject({ state: 'succeeded' })
    expect(most).toBe(2)
  })

  it('are told to onDispatch, with 0 where nobody answered; what it throws harms nothing', async () => {
    const told: Dispatch[] = []
    await using there = await endpoint((response, _, nth) => {
      if (nth === 0) response.destroy()
      else response.writeHead(nth === 1 ? 500 : 204).end()
    })
    const onDispatch = (dispatch: Dispatch): Promise<void> => {
      told.push(dispatch)
      if (told.length === 1) throw new Error('a fault of the hook')
      return Promise.reject(new Error('another one'))
    }
    const run = await ended({ name: 'tick', url: there.url, onDispatch })
    expect(run).toMatchObject({ state: 'succeeded', attempt: 3 })
    expect(told).toMatchObject([
      { job: 'tick', run: run.id, schedule: null, workspace: 'default', attempt: 1, status: 0 },
      { attempt: 2, status: 500 },
      { attempt: 3, status: 204, durationMs: expect.any(Number) },
    ])
  })

  describe('to a host that failed again and again', () => {
    /** Its breaker is open for the workspace `default`; it would be well from now on. */
    async function resting() {
      const there = await endpoint((response, _, nth) => void response.writeHead(nth < 5 ? 502 : 200).end())
      const job = http({ ...inside, url: there.url, retry: { ...soon, attempts: 5 } })
      const place = await started([job])
      const { app } = place
      const failed = await app.runs.wait(await app.enqueue(job))
      expect(failed).toMatchObject({ state: 'failed', error: { code: 'HTTP_502' } })
      const again = new Promise<string>((resolve) => {
        app.on('run.retry', ({ reason }) => resolve(reason))
      })
      /** A run of a schedule with ways of its own. */
      const triggered = async (ways: Pick<HttpOptions, 'timeout' | 'retry' | 'delivery'>): Promise<{ id: string }> => {
        await app.schedules.upsert({ key: 'yearly', cron: '0 0 1 1 *', job, ...ways })
        return app.schedules.trigger('default', 'yearly')
      }
      const close = async (): Promise<void> => {
        await place[Symbol.asyncDispose]()
        await there[Symbol.asyncDispose]()
      }
      return { there, job, app, again, triggered, [Symbol.asyncDispose]: close }
    }

    it('are not made, and that costs no attempt', async () => {
      await using place = await resting()
      const { id } = await place.app.enqueue(place.job)
      expect(await place.again).toBe('postponed')
      expect(await place.app.runs.get(id)).toMatchObject({ state: 'pending', attempt: 0 })
      expect(place.there.heard).toHaveLength(5)
      const server = createServer(place.app, { backgroundTasks: false, authorize: () => 'admin' })
      const log = async (): Promise<string> =>
        (await server.fetch(new Request(`http://localhost/api/v1/runs/${id}/logs`))).text()
      await expect.poll(log).toContain('HTTP_CIRCUIT_OPEN')
    })

    it('are not made for a run that has one attempt, and it still has it when its time is up', async () => {
      await using place = await resting()
      const { id } = await place.triggered({ retry: { ...soon, attempts: 1 }, timeout: '50ms' })
      expect(await place.again).toBe('postponed')
      expect(await place.app.runs.get(id)).toMatchObject({ state: 'pending', attempt: 0 })
      expect(place.there.heard).toHaveLength(5)
    })

    it('are not made for a run that may not be begun again, which has failed when its time is up', async () => {
      await using place = await resting()
      const { id } = await place.triggered({ delivery: 'at_most_once', timeout: '50ms' })
      expect(await place.app.runs.wait(id)).toMatchObject({ state: 'failed', error: { code: 'RUN_ABANDONED' } })
      expect(place.there.heard).toHaveLength(5)
    })

    it('are made for other workspaces', async () => {
      await using place = await resting()
      const handle = await place.app.enqueue(place.job, { workspace: 'good' })
      expect(await place.app.runs.wait(handle)).toMatchObject({ state: 'succeeded', attempt: 1 })
    })
  })

  it('that were given no time to be answered say nothing of the host', async () => {
    let answers = false
    await using there = await endpoint((response) => {
      if (answers) response.end('fine')
    })
    const job = http({ ...inside, url: there.url })
    await using place = await started([job])
    const { app } = place
    const ways = { timeout: '100ms', retry: { ...soon, attempts: 1 } }
    await app.schedules.upsert({ key: 'yearly', cron: '0 0 1 1 *', job, ...ways })
    for (let i = 0; i < 5; i++) {
      expect(await app.runs.wait(await app.schedules.trigger('default', 'yearly'))).toMatchObject({
        state: 'failed',
        error: { code: 'RUN_TIMEOUT' },
      })
    }
    answers = true
    expect(await app.runs.wait(await app.enqueue(job))).toMatchObject({ state: 'succeeded', attempt: 1 })
  })

  it('that are cancelled end at once', async () => {
    let came = (): void => {}
    const arrived = new Promise<void>((resolve) => {
      came = resolve
    })
    await using there = await endpoint(() => came())
    const job = http({ ...inside, url: there.url })
    await using place = await started([job])
    const handle = await place.app.enqueue(job)
    await arrived
    await place.app.runs.cancel(handle.id)
    expect(await place.app.runs.wait(handle)).toMatchObject({ state: 'cancelled' })
    await there.quiet()
  })
})

describe('options of an HTTP target', () => {
  const url = 'https://example.com/hooks/very-secret-path'

  it('make a name that tells addresses apart without saying them', () => {
    const [one, other] = [http({ url }), http({ url: `${url}/2` })]
    expect(one.name).toMatch(/^http example\.com [0-9a-f]{8}$/)
    expect(other.name).not.toBe(one.name)
    expect(one.policy.timeoutMs).toBe(30_000)
  })

  it.each([
    ['a typo', { url, timout: '1s' }, 'OPTION_UNKNOWN'],
    ['a secret that is not set', { url, secret: undefined }, 'OPTION_INVALID'],
    ['a secret that is empty', { url, secret: '' }, 'OPTION_INVALID'],
    ['a secret that is short', { url, secret: 'password' }, 'OPTION_INVALID'],
    ['a secret that is not base64', { url, secret: 'whsec_!!!' }, 'OPTION_INVALID'],
    ['a named secret that is not set', { secrets: { A: undefined } }, 'OPTION_INVALID'],
    ['a private address', { url: 'http://127.0.0.1:3000/' }, 'TARGET_REFUSED'],
    ['a header that frames', { url, headers: { 'content-length': '3' } }, 'TARGET_REFUSED'],
    ['a payload without a body', { url, method: 'GET', payload: z.object({}) }, 'OPTION_INVALID'],
    ['a method without an address', { method: 'GET' }, 'OPTION_INVALID'],
    ['a public address that is none', { url, publicUrl: 'everytick' }, 'OPTION_INVALID'],
  ])('refuse %s', (_, options, code) => {
    let thrown: unknown
    try {
      http(options as HttpOptions<undefined, string>)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toMatchObject({ code })
    expect(String((thrown as Error).message)).not.toContain('very-secret-path')
  })
})
