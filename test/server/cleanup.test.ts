/** Retention on demand over HTTP, on both stores: counted first, removed in bounded steps, and on record. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { failedRun } from './cases.ts'
import { openStage, STORES, type Stage } from './stage.ts'

describe.each(STORES)('on %s', (store) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage(store)
  })
  afterAll(() => stage[Symbol.asyncDispose]())
  const cleanup = (body: object, as = 'admin') => stage.ask('POST', '/cleanup', { body, as })
  const kept = { history: '30d', journal: '30d', idempotency: '1d', orphans: '1w', endedSchedules: '30d' }

  it('counts what is overdue by the retention of the server or by another, and removes nothing of it', async () => {
    const { id } = await failedRun(stage)
    await stage.ask('POST', '/runs', { body: { job: 'plain', idempotencyKey: `key-${store}`, delay: '1h' } })
    const none = await cleanup({ dryRun: true })
    expect(none.body).toEqual({ dryRun: true, removed: 0, counts: {}, more: false, retention: kept })
    const some = (await cleanup({ dryRun: true, retention: { idempotency: '0s' } })).body
    expect(some).toMatchObject({ removed: 1, counts: { idempotencyKeys: 1 }, retention: { idempotency: '0s' } })
    expect((await cleanup({ dryRun: true, retention: { idempotency: '0s' } })).body).toEqual(some)
    expect((await stage.ask('GET', `/runs/${id}`)).status).toBe(200)
    const { body } = await stage.ask('GET', '/audit')
    expect(JSON.stringify(body)).not.toContain('cleanup.run')
  })

  it('removes as much as it counted, and says so in the audit log', async () => {
    const retention = { idempotency: '0s' }
    const counted = (await cleanup({ dryRun: true, retention })).body
    expect(counted.removed).toBeGreaterThan(0)
    const done = (await cleanup({ retention })).body
    expect(done).toEqual({ ...counted, dryRun: false })
    expect((await cleanup({ retention })).body).toMatchObject({ removed: 0, counts: {}, more: false })
    const { body } = await stage.ask('GET', '/audit')
    expect(body.data).toContainEqual(
      expect.objectContaining({
        ...{ action: 'cleanup.run', target: 'cleanup', workspace: '' },
        after: expect.objectContaining({ removed: counted.removed, counts: counted.counts }),
      }),
    )
  })

  it('is for admins of all workspaces, and takes durations only', async () => {
    for (const as of ['operate', 'a-admin']) expect((await cleanup({ dryRun: true }, as)).status).toBe(403)
    const refused = await cleanup({ retention: { history: 'soon' } })
    expect([refused.status, refused.body.code]).toEqual([422, expect.stringMatching(/OPTION_INVALID|DURATION/)])
  })
})
