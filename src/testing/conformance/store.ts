/** What a store promises as a whole: one clock, an orderly end, and that what it acknowledged is there for others. */
import { expect } from 'vitest'
import type { Group } from './harness.ts'
import { DAY, MINUTE, newRun, putNew } from './samples.ts'

export const storeGroup: Group = (promise) => {
  promise(
    'answers whole milliseconds, and moves with the clock of the database',
    { kills: 'the clock keeps fractions' },
    async ({ store, advance }) => {
      const before = await store.now()
      expect(Number.isSafeInteger(before)).toBe(true)
      await advance(DAY)
      const after = await store.now()
      expect(after).toBeGreaterThanOrEqual(before + DAY)
      expect(after).toBeLessThan(before + DAY + 10 * MINUTE)
    },
  )

  promise(
    'has one clock for everybody on the same database',
    { kills: 'each connection has its own clock', needs: 'second' },
    async ({ store, second, advance }) => {
      const other = await second()
      await advance(DAY)
      expect(Math.abs((await other.now()) - (await store.now()))).toBeLessThan(MINUTE)
    },
  )

  promise('has a name for people', { kills: 'the name is empty' }, async ({ store }) => {
    expect(store.name).toMatch(/\S/)
  })

  promise('closes once, however often it is asked to', { kills: 'a second close fails' }, async ({ store }) => {
    await store.close()
    await store.close()
  })

  promise(
    'keeps what was acknowledged for those who open it later',
    { kills: 'writes live in one connection only', needs: 'second' },
    async ({ store, second }) => {
      const schedule = await putNew(store)
      const [run] = await store.runs.enqueue([newRun()])
      const other = await second()
      expect(await other.schedules.get('default', 'sync')).toEqual(schedule)
      expect(await other.history.run(run!.id)).toEqual(await store.history.run(run!.id))
    },
  )
}
