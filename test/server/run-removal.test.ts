/** Deleting a finished run over HTTP, on both stores: it is gone, it is on record, and the ledger is as true as before. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { failedRun, leasedRun, newRun } from './cases.ts'
import { openStage, STORES, type Stage } from './stage.ts'

const PATIENT = { timeout: 30_000 }

describe.each(STORES)('on %s', (store) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage(store)
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  it('deletes what has finished, and says so in the audit log', async () => {
    const { ask } = stage
    const { id } = await failedRun(stage)
    expect((await ask('DELETE', `/runs/${id}`, { as: 'a-read' })).status).toBe(403)
    expect((await ask('DELETE', `/runs/${id}`, { as: 'b-operate' })).status).toBe(404)
    expect((await ask('DELETE', `/runs/${id}`, { as: 'a-operate' })).status).toBe(204)
    for (const path of [`/runs/${id}`, `/runs/${id}/attempts`, `/runs/${id}/logs`])
      expect((await ask('GET', path)).status).toBe(404)
    expect((await ask('DELETE', `/runs/${id}`)).status).toBe(404)
    const { body } = await ask('GET', '/audit')
    expect(body.data).toContainEqual(
      expect.objectContaining({ action: 'run.delete', target: `run ${id}`, workspace: 'a', actor: expect.anything() }),
    )
  })

  it('refuses what waits or runs, and leaves it as it is', async () => {
    for (const { id } of [await newRun(stage), await leasedRun(stage)]) {
      const before = (await stage.ask('GET', `/runs/${id}`)).body
      const refused = await stage.ask('DELETE', `/runs/${id}`)
      expect([refused.status, refused.body.code]).toEqual([409, 'RUN_NOT_FINISHED'])
      expect((await stage.ask('GET', `/runs/${id}`)).body).toEqual(before)
    }
  })

  it('leaves the ledger as it was: the audit counts the same, and why says who deleted the run', async () => {
    const { app, ask } = stage
    const workspace = 'kept'
    await app.start()
    try {
      const key = 'often'
      const { body: made } = await ask('POST', '/schedules', {
        body: { workspace, key, every: '1s', job: 'plain', overlap: 'allow', catchUp: 'all' },
      })
      const ended = async () => app.runs.list({ workspace, state: 'succeeded' })
      await expect.poll(async () => (await ended()).length, PATIENT).toBeGreaterThanOrEqual(3)
      await ask('POST', `/schedules/${made.id}/pause`)
      await expect
        .poll(async () => (await app.runs.list({ workspace, state: ['pending', 'running'] })).length, PATIENT)
        .toBe(0)
      const runs = await ended()
      const span = { workspace, to: runs[0]!.scheduledAt! }
      const before = await app.audit(span)
      expect(before).toMatchObject({ ok: true, expected: runs.length, runs: runs.length })
      for (const { id } of runs.slice(0, -1)) expect((await ask('DELETE', `/runs/${id}`)).status).toBe(204)
      expect(await app.runs.list({ workspace })).toHaveLength(1)
      const after = await app.audit(span)
      expect(after).toEqual({ ...before, from: after.from })
      const why = await app.schedules.why(workspace, key, runs[0]!.scheduledAt!)
      expect(why).toMatchObject({ verdict: 'ran', reason: 'deleted' })
      expect(why.sentence).toMatch(`run ${runs[0]!.id}, which admin deleted at `)
      expect(why.checks).toContainEqual(
        expect.objectContaining({ name: 'planned', ok: true, text: expect.stringContaining('which admin deleted at') }),
      )
      await ask('POST', `/schedules/${made.id}/resume`)
      await ask('POST', `/schedules/${made.id}/pause`)
      expect((await app.audit(span)).ok).toBe(true)
    } finally {
      await app.stop()
    }
  })
})
