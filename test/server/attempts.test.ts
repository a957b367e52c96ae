/** The attempts of a run over HTTP, as both stores have them: every one is listed, also the only one of a run that succeeded at once. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStage, STORES, type Stage } from './stage.ts'

describe.each(STORES)('on %s', (store) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage(store)
    await stage.app.start({ role: 'worker' })
  })
  afterAll(async () => {
    await stage.app.stop()
    await stage[Symbol.asyncDispose]()
  })

  const attempts = async (id: string) => (await stage.ask('GET', `/runs/${id}/attempts`)).body.data

  it('lists the only attempt of a run that succeeded, with its worker, and of one that failed, with its error', async () => {
    const [plain, failing] = await Promise.all(
      ['plain', 'failing'].map(async (job) => (await stage.ask('POST', '/runs', { body: { job } })).body.id as string),
    )
    const ended = [await stage.app.runs.wait(plain!), await stage.app.runs.wait(failing!)]
    expect(await stage.app.runs.journal(plain!)).toEqual([])
    expect(await attempts(plain!)).toMatchObject([
      { kind: 'succeeded', runId: plain, data: { attempt: 1, fence: 1, workerId: ended[0]!.workerId } },
    ])
    expect(await attempts(failing!)).toMatchObject([
      { kind: 'failed', data: { error: { message: 'it fails always' } } },
    ])
  })

  it('lists the attempts that another followed before the last', async () => {
    const core = stage.server.parts.core
    const queue = `queue-${store}`
    const { id } = (await stage.ask('POST', '/runs', { body: { job: 'plain', queue } })).body
    const { claims } = await core.store()
    const claim = async () =>
      (await claims.claim({ workerId: 'w', leaseMs: 60_000, wanted: [{ queue, limit: 1 }] })).runs[0]!
    const verdict = { kind: 'retry', delayMs: 0, reason: 'retry', counts: true, error: null } as const
    const first = await claim()
    await claims.settle([{ ...first, claimId: first.claimId!, workerId: 'w', verdict }])
    await claim()
    expect(await attempts(id)).toMatchObject([
      { kind: 'retry', data: { fence: 1, attempt: 1 } },
      { kind: 'running', data: { fence: 2, attempt: 2, workerId: 'w' } },
    ])
  })
})
