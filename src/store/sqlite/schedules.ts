/** Schedules as rows of SQLite: reading them, and parking, resuming and removing them; creating and changing is `put.ts`. */
import { toJsonText } from '../../json.ts'
import type { Clock } from '../../time/clock.ts'
import type { Executor } from '../contract/executor.ts'
import type { Resume, SchedulePage, ScheduleStore } from '../contract/schedules.ts'
import type { Connection } from './connection.ts'
import type { Value } from './driver.ts'
import { INSERT_NON_RUN, nonRunValues } from './non-runs.ts'
import { putAll, readPuts } from './put.ts'
import { retract } from './retract.ts'
import { SCHEDULE, type ScheduleRow, scheduleOf } from './rows.ts'
import { ask, play, playIn, type Steps } from './steps.ts'
import type { Wake } from './wake.ts'

const READ = `
  select ${SCHEDULE}
  from everytick_schedules s join everytick_cursors c on c.schedule_id = s.id`
const GET = `${READ} where s.workspace = ? and s.key = ?`
const PAUSE = `
  update everytick_schedules set pause = ?, updated_at = ? where workspace = ? and key = ?
  returning id, quarantine is not null as quarantined`
const PARK = `
  update everytick_cursors set next_at = ?, watermark_at = min(watermark_at, ?) where schedule_id = ?`
const RESUME = `
  update everytick_schedules set pause = null, updated_at = ?
  where workspace = ? and key = ? and pause is not null and revision = ?
  returning id, quarantine is not null as quarantined`
const MOVE = `
  update everytick_cursors set next_at = ?, watermark_at = max(watermark_at, ?) where schedule_id = ?`
const REMOVE = `delete from everytick_schedules where workspace = ? and key = ? returning id`
const REMOVE_WORKSPACE = `delete from everytick_schedules where workspace = ? returning id`
const REMOVE_CURSOR = `delete from everytick_cursors where schedule_id = ?`

interface Id {
  readonly id: string
}

/** A quarantine keeps the cursor parked, whatever else would move it. */
interface Found extends Id {
  readonly quarantined: number
}

export function scheduleStore(connection: Connection, clock: Clock, wake: Wake): ScheduleStore {
  /** On our connection, or inside the caller's transaction, whose commit other connections notice by themselves. */
  async function change<T>(steps: () => Steps<T>, { tx, rows = 1 }: { tx: Executor | undefined; rows?: number }) {
    if (tx) return playIn(tx, steps())
    const answer = await connection.write(() => play(connection, steps()), rows)
    wake.hint({ kind: 'schedules' })
    return answer
  }

  return {
    async put(schedules, tx) {
      if (schedules.length === 0) return []
      const puts = readPuts(schedules)
      return change(() => putAll(puts, clock.now()), { tx, rows: puts.length })
    },
    async get(workspace, key) {
      const [row] = await connection.read(() => connection.all<ScheduleRow>(GET, workspace, key))
      return row === undefined ? null : scheduleOf(row)
    },
    async list(page) {
      const { text, values } = listOf(page)
      const rows = await connection.read(() => connection.all<ScheduleRow>(text, ...values))
      return rows.map(scheduleOf)
    },
    async pause(workspace, key, { reason, by, until }, tx) {
      return change(
        function* () {
          const now = clock.now()
          const words = toJsonText({ reason, by, at: now, until }, { what: 'pause' })
          const [found] = yield* ask<Found>(PAUSE, words, now, workspace, key)
          if (found === undefined) return false
          yield* retract(found.id, now)
          yield { text: PARK, values: [found.quarantined === 1 ? null : until, now, found.id] }
          return true
        },
        { tx },
      )
    },
    async resume(workspace, key, to, tx) {
      return change(() => resume(workspace, key, { ...to, now: clock.now() }), { tx })
    },
    async remove(workspace, key, tx) {
      const removed = await change(() => remove({ text: REMOVE, values: [workspace, key] }, clock.now()), { tx })
      return removed > 0
    },
    async removeWorkspace(workspace, tx) {
      return change(() => remove({ text: REMOVE_WORKSPACE, values: [workspace] }, clock.now()), { tx })
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

function* resume(workspace: string, key: string, to: Resume & { readonly now: number }): Steps<boolean> {
  const [found] = yield* ask<Found>(RESUME, to.now, workspace, key, to.revision)
  if (found === undefined) return false
  yield { text: MOVE, values: [found.quarantined === 1 ? null : to.nextAt, to.watermarkAt, found.id] }
  for (const nonRun of to.nonRuns) yield { text: INSERT_NON_RUN, values: nonRunValues(found.id, nonRun, to.now) }
  return true
}

function* remove(which: { text: string; values: string[] }, now: number): Steps<number> {
  const gone = yield* ask<Id>(which.text, ...which.values)
  for (const { id } of gone) {
    yield* retract(id, now)
    yield { text: REMOVE_CURSOR, values: [id] }
  }
  return gone.length
}
