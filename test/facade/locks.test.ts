/** `app.locks`: one holder at a time, a fence that grows, and a signal for who lost it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
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

  it('does not meet the engine’s own locks of the same name', async () => {
    expect(await t.app.locks.run('planner', { ttl }, () => 'mine')).toBe('mine')
  })

  it('refuses a lease too short to keep', async () => {
    await expect(t.app.locks.run('report', { ttl: '10ms' }, () => {})).rejects.toMatchObject({ code: 'OPTION_INVALID' })
  })
})
