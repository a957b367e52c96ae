/** Builds of apps: an older one learns that a newer one was there. */
import { expect } from 'vitest'
import type { Group } from './harness.ts'

export const appsGroup: Group = (promise) => {
  promise(
    'remembers the newest build of each app, and tells an older one of it',
    { kills: 'an older build undoes a newer one' },
    async ({ store }) => {
      expect(await store.apps.sync('api', 1_731_672_000_123)).toBe(1_731_672_000_123)
      expect(await store.apps.sync('api', 7)).toBe(1_731_672_000_123)
      expect(await store.apps.sync('api', 1_731_672_000_124)).toBe(1_731_672_000_124)
      expect(await store.apps.sync('api', 1_731_672_000_124)).toBe(1_731_672_000_124)
      expect(await store.apps.sync('worker', 7)).toBe(7)
      expect(await store.apps.sync('api', 0)).toBe(1_731_672_000_124)
    },
  )

  promise(
    'tells two builds that come at once of the newer',
    { kills: 'an older build undoes a newer one', needs: 'second' },
    async ({ store, second }) => {
      const other = await second()
      await Promise.all([store.apps.sync('api', 2), other.apps.sync('api', 1), store.apps.sync('api', 1)])
      expect(await other.apps.sync('api', 1)).toBe(2)
    },
  )
}
