/** Schedules as rows of SQLite: reading them, and the transactions in which they change; the changes are `put.ts` and `park.ts`. */
import type { Clock } from '../../time/clock.ts'
import type { Executor } from '../contract/executor.ts'
import type { SchedulePage, ScheduleStore } from '../contract/schedules.ts'
import type { Connection } from './connection.ts'
import type { Value } from './driver.ts'
import { find } from './find.ts'
import { pause, remove, resume } from './park.ts'
import { putAll, readPuts } from './put.ts'
import { SCHEDULE, type ScheduleRow, scheduleOf } from './rows.ts'
import { ask, playIn, type Steps } from './steps.ts'
import { classesOf } from './timing-classes.ts'
import type { Wake } from './wake.ts'

const READ = `
  select ${SCHEDULE}
  from everytick_schedules s join everytick_cursors c on c.schedule_id = s.id`
const GET = `${READ} where s.workspace = ? and s.key = ?`

export function scheduleStore(connection: Connection, clock: Clock, wake: Wake): ScheduleStore {
  /** On our connection, or inside the caller's transaction, whose commit other connections notice by themselves. */
  async function change<T>(steps: () => Steps<T>, { tx, rows = 1 }: { tx: Executor | undefined; rows?: number }) {
    if (tx) return playIn(tx, steps())
    const answer = await connection.writeSteps(steps, rows)
    wake.hint({ kind: 'schedules' })
    return answer
  }

  return {
    ...find(connection, clock),
    classes: (workspace) => classesOf(connection, workspace),
    async put(schedules, tx) {
      if (schedules.length === 0) return []
      const puts = readPuts(schedules)
      return change(() => putAll(puts, clock.now()), { tx, rows: puts.length })
    },
    async get(workspace, key, tx) {
      const [row] = tx
        ? await playIn(tx, ask<ScheduleRow>(GET, workspace, key))
        : await connection.read(() => connection.all<ScheduleRow>(GET, workspace, key))
      return row === undefined ? null : scheduleOf(row)
    },
    async list(page) {
      const { text, values } = listOf(page)
      const rows = await connection.read(() => connection.all<ScheduleRow>(text, ...values))
      return rows.map(scheduleOf)
    },
    async pause(workspace, key, words, tx) {
      return change(() => pause({ workspace, key, now: clock.now() }, words), { tx })
    },
    async resume(workspace, key, to, tx) {
      return change(() => resume({ workspace, key, now: clock.now() }, to), { tx })
    },
    async remove(workspace, key, by, tx) {
      const which = { where: 'workspace = ? and key = ?', values: [workspace, key] }
      const removed = await change(() => remove(which, { now: clock.now(), by }), { tx })
      return removed > 0
    },
    async removeWorkspace(workspace, by, tx) {
      const which = { where: 'workspace = ?', values: [workspace] }
      return change(() => remove(which, { now: clock.now(), by }), { tx })
    },
  }
}

export function listOf({ workspace, source, limit, after }: SchedulePage): { text: string; values: Value[] } {
  const conditions = [
    ...(workspace === undefined ? [] : ['s.workspace = ?']),
    ...(source === undefined ? [] : ['s.source = ?']),
    // Said again in the index's own words, since SQLite does not look into a parameter to find that it applies.
    ...(source === undefined || source === 'api' ? [] : ["s.source <> 'api'"]),
    ...(after === undefined ? [] : ['(s.workspace, s.key) > (?, ?)']),
  ]
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
  const values = [
    ...[workspace, source].filter((value) => value !== undefined),
    ...(after ? [after.workspace, after.key] : []),
  ]
  return { text: `${READ} ${where} order by s.workspace, s.key limit ?`, values: [...values, limit] }
}
