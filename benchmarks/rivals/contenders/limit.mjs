/** The limit: the least SQL of the core benchmark, which promises nothing but that its rows are on the disk. */
import { existsSync } from 'node:fs'
import { newIds } from '../../core/load.mjs'
import { inGroups } from '../../core/turns.mjs'

const GROUP = 1000
const LINES = 2

const LIMITS = {
  postgres: async (where) => (await import('../../core/postgres-limit.mjs')).postgresLimit(where),
  sqlite: async (where) => (await import('../../core/sqlite-limit.mjs')).sqliteLimit(where),
}

export async function open({ kind, where }) {
  if (kind === 'sqlite' && existsSync(where)) throw new Error('the limit needs a file of its own')
  const limit = await LIMITS[kind](where)
  const groups = { group: GROUP, inFlight: LINES }
  let open = 0
  return {
    async enqueueBulk(count) {
      await inGroups({ ...groups, total: count }, (size) => limit.insert(newIds(size)))
      open += count
    },
    async work(told) {
      let lines = Promise.resolve()
      const line = async () => {
        for (let ids = await limit.claim(GROUP); ids.length > 0; ids = await limit.claim(GROUP)) {
          for (let i = 0; i < ids.length; i++) told()
          await limit.finish(ids)
          open -= ids.length
        }
      }
      lines = Promise.all(Array.from({ length: LINES }, line))
      return async () => void (await lines)
    },
    left: async () => open > 0,
    createSchedules: (_from, count) => inGroups({ ...groups, total: count }, (size) => limit.schedule(newIds(size))),
    close: () => limit.close(),
  }
}
