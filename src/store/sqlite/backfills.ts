/** Backfills as rows of SQLite: made, stepped on only from the version that was seen, and ended; the next step is decided by `plan/backfill.ts`. */
import { type Json, toJsonText } from '../../json.ts'
import type { Clock } from '../../time/clock.ts'
import type { Backfill, BackfillFilter, BackfillProgress, BackfillStore, NewBackfill } from '../contract/backfills.ts'
import type { Connection } from './connection.ts'
import type { Value } from './driver.ts'
import { enqueueAll, readRuns } from './enqueue.ts'
import { textOf } from './rows.ts'
import { play, type Step } from './steps.ts'
import type { Wake } from './wake.ts'

const columns = (
  payload: string,
): string => `id, schedule_id, workspace, key, by, from_at, to_at, concurrency, force, ${payload},
  total, progress, state, created_at, finished_at, version`
const COLUMNS = columns('payload')
const WITHOUT_PAYLOAD = columns("'null' as payload")
const INSERT = `
  insert into everytick_backfills (${COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'running', ?, null, 1)`
const GET = `select ${COLUMNS} from everytick_backfills where id = ?`
const ADVANCE = `
  update everytick_backfills set progress = ?, state = ?, finished_at = ?, version = version + 1
  where id = ? and version = ? and state = 'running'`
const CANCEL = `
  update everytick_backfills set state = 'cancelled', finished_at = ?, version = version + 1
  where id = ? and state = 'running'`

interface BackfillRow extends Pick<Backfill, 'id' | 'workspace' | 'key' | 'by' | 'concurrency' | 'total' | 'state'> {
  readonly schedule_id: string
  readonly from_at: number
  readonly to_at: number
  readonly force: number
  readonly payload: string
  readonly progress: string
  readonly created_at: number
  readonly finished_at: number | null
  readonly version: number
}

export function backfillStore(connection: Connection, clock: Clock, wake: Wake): BackfillStore {
  return {
    async create(backfill, tx) {
      const step = insertOf(backfill, clock.now())
      if (tx) await tx.query(step.text, [...step.values])
      else await connection.write(() => connection.run(step.text, ...step.values))
      if (!tx) wake.hint({ kind: 'schedules' })
    },
    async get(id) {
      const [row] = await connection.read(() => connection.all<BackfillRow>(GET, id))
      return row === undefined ? null : backfillOf(row)
    },
    async list(filter) {
      const { text, values } = backfillsOf(filter)
      const rows = await connection.read(() => connection.all<BackfillRow>(text, ...values))
      return rows.map(backfillOf)
    },
    async advance(id, version, { progress, runs }) {
      const now = clock.now()
      const words = toJsonText(progress, { what: 'progress' })
      const ready = readRuns(runs, now)
      const { state } = progress
      const advanced = await connection.write(() => {
        const finishedAt = state === 'running' ? null : now
        if (connection.run(ADVANCE, words, state, finishedAt, id, version) === 0) return false
        play(connection, enqueueAll(ready, now))
        return true
      }, 1 + ready.length)
      if (advanced && runs.length > 0) wake.hint({ kind: 'runs', queues: [...new Set(runs.map(({ queue }) => queue))] })
      return advanced
    },
    cancel: (id) => connection.write(() => connection.run(CANCEL, clock.now(), id) > 0),
  }
}

const NOTHING_YET = { kept: 0, made: 0, succeeded: 0, failed: 0, cancelled: 0, open: [], state: 'running' } as const

function insertOf(backfill: NewBackfill, now: number): Step {
  const { id, scheduleId, fromAt, toAt, concurrency, force, total } = backfill
  const payload = toJsonText(backfill.payload, { what: 'payload' })
  const progress: BackfillProgress = { doneUntilAt: fromAt - 1, ...NOTHING_YET }
  const who = [textOf(backfill.workspace, 'workspace'), textOf(backfill.key, 'key'), textOf(backfill.by, 'by')]
  const what = [fromAt, toAt, concurrency, force ? 1 : 0, payload, total, JSON.stringify(progress)]
  return { text: INSERT, values: [id, scheduleId, ...who, ...what, now] }
}

export function backfillsOf(filter: BackfillFilter): { text: string; values: Value[] } {
  const { scheduleId, workspace, state, ids, limit, omitPayload = false } = filter
  const asked: [condition: string, ...values: Value[]][] = []
  if (scheduleId !== undefined) asked.push(['schedule_id = ?', scheduleId])
  if (workspace !== undefined) asked.push(['workspace = ?', workspace])
  // In the index's own words, since SQLite does not look into a parameter to find that it applies.
  if (state !== undefined) asked.push(state === 'running' ? ["state = 'running'"] : ['state = ?', state])
  if (ids !== undefined) asked.push(['id >= ?', ids.from])
  if (ids?.before !== undefined) asked.push(['id < ?', ids.before])
  const where = asked.length === 0 ? '' : `where ${asked.map(([condition]) => condition).join(' and ')}`
  const order = ids === undefined ? 'created_at desc, id desc' : 'id desc'
  const text = `select ${omitPayload ? WITHOUT_PAYLOAD : COLUMNS} from everytick_backfills ${where} order by ${order} limit ?`
  return { text, values: [...asked.flatMap(([, ...values]) => values), limit] }
}

function backfillOf(row: BackfillRow): Backfill {
  const { id, workspace, key, by, concurrency, total, state, version } = row
  return {
    ...(JSON.parse(row.progress) as BackfillProgress),
    ...{ id, workspace, key, by, concurrency, total, state, version },
    scheduleId: row.schedule_id,
    fromAt: row.from_at,
    toAt: row.to_at,
    force: row.force === 1,
    payload: JSON.parse(row.payload) as Json,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
  }
}
