/** Failovers of the database: none is seen where there was none. */
import { expect } from 'vitest'
import type { Group } from './harness.ts'

export const failoversGroup: Group = (promise) => {
  promise(
    'takes no note for a failover that it or another process has written, on whichever connection it is read',
    { kills: 'a note that was seen before is taken for a failover', needs: 'second' },
    async ({ store, second }) => {
      const all = [store, await second(), await second()]
      for (let round = 0; round < 3; round++) {
        await Promise.all(all.map(({ failovers }) => failovers.confirm()))
        await Promise.all(
          all.flatMap((each) => [each.now(), each.apps.sync('a', round), each.now(), each.apps.sync('b', 1)]),
        )
      }
      expect(await Promise.all(all.map(({ failovers }) => failovers.list(10)))).toEqual([[], [], []])
    },
  )
}
