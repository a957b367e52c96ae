/** Ending an attempt from outside: by the token of the attempt, which is good for nothing else, and by a key. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCompletionKey } from '../../src/engine/completion-key.ts'
import { completionTokenOf } from '../../src/run/completion-token.ts'
import { handler } from '../../src/server.ts'
import { leasedRun, type RunningRun } from './cases.ts'
import { openStage, STORES, type Stage } from './stage.ts'

describe.each(STORES)('completing a run on %s', (store) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage(store)
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  const storeOf = () => stage.server.parts.core.store()
  const tokenOf = async ({ id, fence, claimId }: RunningRun): Promise<string> => {
    const { documents } = await storeOf()
    return completionTokenOf(await createCompletionKey(() => documents)(), { runId: id, fence, claimId })
  }
  /** A run that was handed over, with its token. */
  async function handed(workspace = 'a') {
    const run = await leasedRun(stage, workspace)
    await (await storeOf()).claims.handOver([run], 3_600_000)
    return { ...run, path: `/runs/${run.id}/complete`, token: await tokenOf(run) }
  }
  const DONE = { outcome: 'succeeded', result: { rows: 7 } }

  it('takes a token of the run in place of a key, whatever its workspace', async () => {
    for (const workspace of ['a', 'b', 'default']) {
      const { id, fence, path, token } = await handed(workspace)
      const { status, body } = await stage.ask('POST', path, { as: token, body: DONE })
      expect({ status, state: body.state, workspace: body.workspace }).toEqual({
        status: 200,
        state: 'succeeded',
        workspace,
      })
      expect((await stage.ask('GET', `/runs/${id}`)).body).toMatchObject({ result: { rows: 7 }, fence })
    }
  })

  it('refuses a result with a NUL or half of a surrogate pair, and leaves the run to be completed', async () => {
    const { id, path, token } = await handed()
    for (const broken of ['a\0b', 'a\ud83db']) {
      const { status, body } = await stage.ask('POST', path, { as: token, body: { ...DONE, result: { broken } } })
      expect([status, body.code]).toEqual([422, 'JSON_INVALID'])
    }
    expect((await stage.ask('GET', `/runs/${id}`)).body).toMatchObject({ state: 'running', result: null })
    expect((await stage.ask('POST', path, { as: token, body: DONE })).status).toBe(200)
  })

  it('shows whoever has only a token no more than a reader sees', async () => {
    const { path, token } = await handed()
    const { body } = await stage.ask('POST', path, { as: token, body: DONE })
    expect(body).not.toHaveProperty('payload')
    expect(body).not.toHaveProperty('result')
  })

  it('says in the audit log that it was a token', async () => {
    const { id, path, token } = await handed()
    await stage.ask('POST', path, { as: token, body: DONE })
    const { body } = await stage.ask('GET', '/audit?limit=1')
    expect(body.data[0]).toMatchObject({
      actor: 'completion token',
      action: 'run.complete',
      target: `run ${id}`,
      workspace: 'a',
    })
    expect(JSON.stringify(body)).not.toContain(token)
  })

  it('takes a fence beside the token when both say the same', async () => {
    const { path, token, fence } = await handed()
    const wrong = await stage.ask('POST', path, { as: token, body: { ...DONE, fence: fence + 1 } })
    expect([wrong.status, wrong.body.code]).toEqual([422, 'REQUEST_INVALID'])
    expect((await stage.ask('POST', path, { as: token, body: { ...DONE, fence } })).status).toBe(200)
  })

  it('asks for a fence where there is no token', async () => {
    const { path, fence } = await handed()
    const { status, body } = await stage.ask('POST', path, { body: DONE })
    expect([status, body.code]).toEqual([422, 'REQUEST_INVALID'])
    expect((await stage.ask('POST', path, { as: 'a-operate', body: { ...DONE, fence } })).status).toBe(200)
  })

  it('refuses the token for another run, when it was changed, and for every other request', async () => {
    const [one, other] = [await handed(), await handed()]
    const forged = one.token.replace(/_(\d+)\./, (_, fence) => `_${Number(fence) + 1}.`)
    const asked = [
      await stage.ask('POST', other.path, { as: one.token, body: DONE }),
      await stage.ask('POST', one.path, { as: forged, body: DONE }),
      await stage.ask('POST', one.path, { as: 'evt_run_1.x', body: DONE }),
      await stage.ask('POST', `/runs/${one.id}/cancel`, { as: one.token }),
      await stage.ask('GET', `/runs/${one.id}`, { as: one.token }),
      await stage.ask('GET', '/session', { as: one.token }),
    ]
    for (const { status, body } of asked) expect([status, body.code]).toEqual([401, 'UNAUTHENTICATED'])
    expect((await stage.ask('GET', `/runs/${other.id}`)).body.state).toBe('running')
  })

  it('makes whoever guesses tokens wait', async () => {
    const { server } = await stage.another({ backgroundTasks: false })
    const { path } = await handed()
    const guess = (): Promise<Response> =>
      server.fetch(
        new Request(`http://localhost/api/v1${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer evt_run_1.${'A'.repeat(43)}`, 'content-type': 'application/json' },
          body: JSON.stringify(DONE),
        }),
        { incoming: { socket: { remoteAddress: '192.0.2.9' } } },
      )
    for (let i = 0; i < 10; i++) expect((await guess()).status).toBe(401)
    expect((await guess()).status).toBe(429)
  })

  it('refuses a token whose attempt is over', async () => {
    const { path, token } = await handed()
    await stage.ask('POST', path, { as: token, body: DONE })
    const late = await stage.ask('POST', path, { as: token, body: DONE })
    expect([late.status, late.body.code]).toEqual([409, 'LEASE_LOST'])
  })

  it('lets a request with an Idempotency-Key be repeated, and keeps the keys of two tokens apart', async () => {
    const [one, other] = [await handed(), await handed()]
    const headers = { 'idempotency-key': 'once' }
    const first = await stage.ask('POST', one.path, { as: one.token, body: DONE, headers })
    const again = await stage.ask('POST', one.path, { as: one.token, body: DONE, headers })
    expect([first.status, again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 200, 'true'])
    expect((await stage.ask('POST', other.path, { as: other.token, body: DONE, headers })).status).toBe(200)
  })

  it('lets a failed attempt be followed by another, unless it is said that it would be of no use', async () => {
    const [one, other] = [await handed(), await handed()]
    const error = { name: 'ExportError', message: 'disk full' }
    const again = await stage.ask('POST', one.path, { as: one.token, body: { outcome: 'failed', error } })
    expect(again.body).toMatchObject({ state: 'pending', error })
    const end = { outcome: 'failed', error, retry: false }
    expect((await stage.ask('POST', other.path, { as: other.token, body: end })).body).toMatchObject({
      state: 'failed',
      error,
    })
  })

  it('accepts a token though the host decides about all others', async () => {
    const run = await handed()
    const ask = handler(stage.app, { backgroundTasks: false, authorize: () => null as never })
    const request = (path: string) =>
      new Request(`http://localhost/api/v1${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${run.token}`, 'content-type': 'application/json' },
        body: JSON.stringify(DONE),
      })
    expect((await ask(request(`/runs/${run.id}/cancel`))).status).not.toBe(200)
    expect((await ask(request(run.path))).status).toBe(200)
  })

  it('shows what a target kept of an attempt to those who may operate, and to no reader', async () => {
    const run = await leasedRun(stage)
    const error = { name: 'HttpFailure', message: 'no', code: 'HTTP_500', detail: { body: 'marker-7f3a' } }
    const { claims } = await storeOf()
    const again = { kind: 'retry', delayMs: 0, reason: 'retry', counts: true, error } as const
    const late = { kind: 'final', state: 'succeeded', result: 'marker-7f3a' } as const
    await claims.settle([{ ...run, workerId: 'w', verdict: again }])
    await claims.settle([{ ...run, workerId: 'w', verdict: late }])
    for (const path of [`/runs/${run.id}`, `/runs/${run.id}/attempts`]) {
      expect(JSON.stringify((await stage.ask('GET', path, { as: 'a-operate' })).body)).toContain('marker-7f3a')
      const { status, body } = await stage.ask('GET', path, { as: 'a-read' })
      expect([status, JSON.stringify(body)]).toEqual([200, expect.not.stringContaining('marker-7f3a')])
      expect(JSON.stringify(body)).toContain('HTTP_500')
    }
  })
})
