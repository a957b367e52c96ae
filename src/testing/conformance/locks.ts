/** Leases on background tasks: one holder at a time, a fence that grows with each change of hands, and nobody gives up another's. */
import { expect } from 'vitest'
import type { Group } from './harness.ts'
import { HOUR, MINUTE } from './samples.ts'

export const locksGroup: Group = (promise) => {
  promise('gives a free lock, and shows who holds it', { kills: 'a lock has no holder' }, async ({ store }) => {
    const before = await store.now()
    const lock = (await store.locks.acquire('janitor', 'n1', MINUTE))!
    expect(lock).toMatchObject({ name: 'janitor', holder: 'n1' })
    expect(lock.until).toBeGreaterThanOrEqual(before + MINUTE)
    expect(await store.locks.list()).toEqual([lock])
  })

  promise(
    'gives it to nobody else while the lease holds',
    { kills: 'a held lock is taken' },
    async ({ store, advance }) => {
      const lock = await store.locks.acquire('janitor', 'n1', MINUTE)
      await advance(MINUTE / 2)
      expect(await store.locks.acquire('janitor', 'n2', HOUR)).toBeNull()
      expect(await store.locks.list()).toEqual([lock])
      expect(await store.locks.acquire('alerts', 'n2', HOUR)).toMatchObject({ holder: 'n2' })
    },
  )

  promise(
    'extends its holder’s lease under the same fence',
    { kills: 'a renewal changes the fence' },
    async ({ store, advance }) => {
      const lock = (await store.locks.acquire('janitor', 'n1', MINUTE))!
      await advance(MINUTE / 2)
      const renewed = (await store.locks.acquire('janitor', 'n1', MINUTE))!
      expect(renewed.fence).toBe(lock.fence)
      expect(renewed.until).toBeGreaterThanOrEqual(lock.until + MINUTE / 2)
      await advance(MINUTE / 2 + 1000)
      expect(await store.locks.acquire('janitor', 'n2', MINUTE)).toBeNull()
    },
  )

  promise(
    'passes on a lock whose lease has ended, under a higher fence',
    { kills: 'a lock changes hands under the same fence' },
    async ({ store, advance }) => {
      const first = (await store.locks.acquire('janitor', 'n1', MINUTE))!
      await advance(MINUTE)
      const second = (await store.locks.acquire('janitor', 'n2', MINUTE))!
      expect(second).toMatchObject({ holder: 'n2' })
      expect(second.fence).toBeGreaterThan(first.fence)
      expect(await store.locks.acquire('janitor', 'n1', MINUTE)).toBeNull()
    },
  )

  promise(
    'passes on a lock that was given up, under a higher fence still',
    { kills: 'a release forgets the fence' },
    async ({ store }) => {
      const first = (await store.locks.acquire('janitor', 'n1', HOUR))!
      await store.locks.release(first)
      const second = (await store.locks.acquire('janitor', 'n2', HOUR))!
      expect(second.fence).toBeGreaterThan(first.fence)
    },
  )

  promise(
    'lets nobody give up what is no longer theirs',
    { kills: 'a release does not look at the holder' },
    async ({ store, advance }) => {
      const old = (await store.locks.acquire('janitor', 'n1', MINUTE))!
      await advance(HOUR)
      const lock = (await store.locks.acquire('janitor', 'n2', HOUR))!
      await store.locks.release(old)
      await store.locks.release({ ...lock, holder: 'n1' })
      await store.locks.release({ ...lock, fence: old.fence })
      await store.locks.release({ ...lock, name: 'other' })
      expect(await store.locks.list()).toEqual([lock])
      expect(await store.locks.acquire('janitor', 'n3', MINUTE)).toBeNull()
    },
  )

  promise(
    'gives it to one of two processes',
    { kills: 'a held lock is taken', needs: 'second' },
    async ({ store, second }) => {
      const other = await second()
      const answers = await Promise.all([
        store.locks.acquire('janitor', 'n1', MINUTE),
        other.locks.acquire('janitor', 'n2', MINUTE),
      ])
      expect(answers.filter((lock) => lock !== null)).toHaveLength(1)
    },
  )
}
