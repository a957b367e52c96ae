/** `app.locks`: one holder at a time, a fence that grows, and a signal for who lost it. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { defineJob, schedule } from '../../src/index.ts'
import { createTestEverytick, type TestEverytick } from '../../src/testing/test-everytick.ts'

let t: TestEverytick
beforeEach(async () => {
  t = await createTestEverytick({ now: '2027-01-01T00:00:00Z', jobs: [] })
})
afterEach(async () => {
  await t[Symbol.asyncDispose]()
})
const ttl = '30s'

describe('a lock', () => {
  it('is held by one call at a time, and free again afterwards, whether the work succeeds or throws', async () => {
    const inner = t.app.locks.run('report', { ttl }, () => t.app.locks.run('report', { ttl }, () => 'never'))
    await expect(inner).rejects.toMatchObject({
      code: 'LOCK_HELD',
      message: expect.stringContaining('"report" is held by everytick-'),
    })
    expect(await t.app.locks.run('report', { ttl }, () => 'done')).toBe('done')
  })

  it('has a fence that grows each time it changes hands', async () => {
    const fences = []
    for (let i = 0; i < 3; i++) fences.push(await t.app.locks.run('report', { ttl }, ({ fence }) => fence))
    expect(fences[1]).toBeGreaterThan(fences[0]!)
    expect(fences[2]).toBeGreaterThan(fences[1]!)
  })

  it('is kept while the work goes on, far beyond its lease', async () => {
    await t.app.locks.run('report', { ttl }, async ({ signal }) => {
      await t.advance('10m')
      expect(signal.aborted).toBe(false)
      expect(await t.app.locks.list()).toContainEqual(expect.objectContaining({ name: 'report' }))
    })
    expect((await t.app.locks.list()).filter(({ name }) => name === 'report')).toEqual([])
  })

  it('tells the work when it was lost to another', async () => {
    await t.app.locks.run('report', { ttl }, async ({ signal }) => {
      t.clock.moveBy(31_000)
      await t.store.locks.acquire('user:report', 'somebody else', 60_000)
      await t.advance('1m')
      expect(signal.reason).toMatchObject({ code: 'LEASE_LOST' })
    })
    expect(await t.app.locks.list()).toContainEqual(expect.objectContaining({ name: 'report', holder: 'somebody' }))
  })

  it('can be taken away from its holder, which is told and does not take it back', async () => {
    const { store, app } = t
    const mine = async () => (await app.locks.list()).filter(({ name }) => name === 'report')
    await app.locks.run('report', { ttl }, async ({ fence, signal }) => {
      const [leased] = await mine()
      expect(await app.locks.release('report', { fence })).toEqual(leased)
      expect(await mine()).toEqual([])
      await t.advance('11s')
      expect(signal.reason).toMatchObject({ code: 'LEASE_LOST' })
      // A holder that was told it lost the lock keeps nobody out.
      await vi.waitFor(async () => expect(await mine()).toEqual([]))
      const next = await store.locks.acquire('user:report', 'somebody else', 60_000)
      expect(next!.fence).toBeGreaterThan(fence)
    })
    expect(await mine()).toMatchObject([{ holder: 'somebody', kind: 'user' }])
  })

  it('is not released by mistake: not under another fence, not one of the other kind, not one that nobody holds', async () => {
    const { app } = t
    await app.locks.run('report', { ttl }, async ({ fence }) => {
      await expect(app.locks.release('report', { fence: fence + 1 })).rejects.toMatchObject({ code: 'LOCK_HELD' })
      await expect(app.locks.release('report', { kind: 'engine' })).rejects.toMatchObject({
        code: 'LOCK_NOT_FOUND',
        hint: 'there is one of kind user',
      })
      expect(await app.locks.list()).toContainEqual(expect.objectContaining({ name: 'report', fence }))
    })
    await expect(app.locks.release('report')).rejects.toMatchObject({ code: 'LOCK_NOT_FOUND' })
  })

  it('does not meet the engine’s own locks of the same name', async () => {
    expect(await t.app.locks.run('planner', { ttl }, () => 'mine')).toBe('mine')
  })

  it('refuses a lease too short to keep', async () => {
    await expect(t.app.locks.run('report', { ttl: '10ms' }, () => {})).rejects.toMatchObject({ code: 'OPTION_INVALID' })
  })
})

describe('a lease of the engine', () => {
  it('can be released at any time, and every occurrence still becomes one run', async () => {
    const job = defineJob({ name: 'job', run: () => {} })
    const schedules = [schedule({ key: 'often', every: '10s', job })]
    await using planning = await createTestEverytick({ now: '2027-01-01T00:00:00Z', jobs: [job], schedules })
    await planning.advance('1m')
    for (let round = 0; round < 6; round++) {
      const leased = (await planning.app.locks.list()).filter(({ kind }) => kind === 'engine')
      expect(leased.map(({ name }) => name)).toContain('planner')
      for (const { name } of leased) await planning.app.locks.release(name, { kind: 'engine' })
      await planning.advance('10s')
    }
    expect(await planning.app.runs.list({ schedule: 'often', state: 'succeeded' })).toHaveLength(12)
    expect(await planning.app.audit()).toMatchObject({ ok: true, runs: 12 })
  })
})
