/** Sums over what has ended, in SQLite: made a step at a time, and read together with what is newer; how they add up is `stats-sums.ts`, how large things are is `sizes.ts`. */
import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../../time/clock.ts'
import {
  DURATION_BOUNDS,
  LATENESS_BOUNDS,
  STATS_BUCKET_MS,
  type Stats,
  type StatsScope,
  type StatsStore,
} from '../contract/stats.ts'
import {
  classOf,
  createSums,
  type Ended,
  FRESH_MS,
  hasAnything,
  MAX_STRETCHES,
  overBy,
  type StoredSums,
  type Sums,
  statsOf,
  statsText,
  stretchAt,
  toStoredSums,
} from '../stats-sums.ts'
import type { Connection } from './connection.ts'
import { sizes } from './sizes.ts'
import { ask, type Steps } from './steps.ts'

/** Runs that one step sums up, unless a single stretch has more. */
const STEP_RUNS = 20_000
/** Rows that are read or written in one go: a few milliseconds. */
const PAGE_ROWS = 500

export const UNTIL = `select max(bucket_at) as until from everytick_stats where scope = 'all'`
export const OLDEST = `
  select min(at) as oldest from (
    select min(finished_at) as at from everytick_history union all select min(recorded_at) from everytick_non_runs)`
export const COUNT = `
  select count(*) as many from (select 1 from everytick_history where finished_at >= ? and finished_at < ? limit ?)`
const another = `h.scheduled_at is not null and h.trigger <> 'backfill' and exists (
  select 1 from everytick_history p where p.schedule_id = h.schedule_id and p.scheduled_at = h.scheduled_at
    and p.trigger <> 'backfill' and (p.finished_at, p.id) < (h.finished_at, h.id))`
/** Runs that ended in a span, a page of them as one text; an occurrence is doubled where another run of it had ended before. */
export const ENDED = `
  select json_group_array(json_array(at, workspace, job, queue, state, attempt, due_at, started_at, doubled, place)) as "rows"
  from (
    select h.finished_at as at, h.rowid as place, h.workspace, h.job, h.queue, h.state, h.attempt, h.due_at, h.started_at,
      ${another} as doubled
    from everytick_history h where (h.finished_at, h.rowid) > (?, ?) and h.finished_at < ?
    order by h.finished_at, h.rowid limit ${PAGE_ROWS})`
/** Occurrences that became no run, as far as they were not counted yet. */
export const PASSED = `
  select n.rowid as place, n.recorded_at as at, n.state, n.count - n.counted as count, s.workspace, s.job, s.queue
  from everytick_non_runs n left join everytick_schedules s on s.id = n.schedule_id
  where (n.recorded_at, n.rowid) > (?, ?) and n.recorded_at < ? and n.count > n.counted
  order by n.recorded_at, n.rowid limit ${PAGE_ROWS}`
const TAKEN = `update everytick_non_runs set counted = count where rowid in (select value from json_each(?))`
const WRITE = `
  insert into everytick_stats (scope, bucket_at, data)
  select value ->> 0, value ->> 1, value ->> 2 from json_each(?) where true
  on conflict (scope, bucket_at) do update set data = excluded.data`
export const READ = `
  select bucket_at as at, data from everytick_stats where scope = ? and bucket_at >= ? and bucket_at < ? order by bucket_at`

type EndedRow = readonly [
  ...[at: number, workspace: string, job: string, queue: string, state: Ended['state'], attempt: number],
  ...[dueAt: number, startedAt: number | null, doubled: 0 | 1, place: number],
]

interface PassedRow extends Pick<Ended, 'at' | 'state' | 'count' | 'workspace' | 'job' | 'queue'> {
  readonly place: number
}

interface Span {
  readonly fromAt: number
  readonly toAt: number
}

export function statsStore(connection: Connection, clock: Clock): StatsStore {
  const until = (): number | null => {
    const [row] = connection.all<{ until: number | null }>(UNTIL)
    return row?.until == null ? null : row.until + STATS_BUCKET_MS
  }

  /** Adds the runs of a span, page by page. */
  async function addEnded(sums: Sums, { fromAt, toAt }: Span): Promise<void> {
    for (let [at, place] = [fromAt, -1]; ; await turn()) {
      const [page] = await connection.read(() => connection.all<{ rows: string }>(ENDED, at, place, toAt))
      const rows = JSON.parse(page?.rows ?? '[]') as EndedRow[]
      for (const row of rows) sums.add(endedOf(row))
      const last = rows.at(-1)
      if (last === undefined || rows.length < PAGE_ROWS) return
      ;[at, place] = [last[0], last[9]]
    }
  }

  async function addPassed(sums: Sums, { fromAt, toAt }: Span): Promise<void> {
    for (let [at, place] = [fromAt, -1]; ; await turn()) {
      const rows = await connection.read(() => connection.all<PassedRow>(PASSED, at, place, toAt))
      for (const row of rows) sums.add(passedOf(row))
      const last = rows.at(-1)
      if (last === undefined || rows.length < PAGE_ROWS) return
      ;[at, place] = [last.at, last.place]
    }
  }

  function endOf(fromAt: number, overAt: number): number {
    let stretches = Math.min(MAX_STRETCHES, (overAt - fromAt) / STATS_BUCKET_MS)
    for (; stretches > 1; stretches = Math.floor(stretches / 2)) {
      const [found] = connection.all<{ many: number }>(
        COUNT,
        fromAt,
        fromAt + stretches * STATS_BUCKET_MS,
        STEP_RUNS + 1,
      )
      if (found!.many <= STEP_RUNS) break
    }
    return fromAt + stretches * STATS_BUCKET_MS
  }

  return {
    async roll() {
      const overAt = overBy(clock.now())
      const step = await connection.read(() => {
        const begun = until() ?? connection.all<{ oldest: number | null }>(OLDEST)[0]?.oldest ?? overAt
        const fromAt = stretchAt(begun)
        return { fromAt, toAt: fromAt < overAt ? endOf(fromAt, overAt) : fromAt }
      })
      if (step.fromAt === step.toAt) return { untilAt: step.fromAt, more: false }
      const sums = createSums()
      await addEnded(sums, step)
      const untilAt = await connection.writeSteps(() => keep(sums, step), 2 * PAGE_ROWS)
      return { untilAt, more: untilAt < overAt }
    },
    async read(scope, { fromAt, toAt }) {
      const kept = await connection.read(() => ({
        until: until(),
        rows: connection.all<{ at: number; data: string }>(READ, scope, fromAt, toAt),
      }))
      const known = kept.rows.map(({ at, data }) => statsOf(at, JSON.parse(data) as StoredSums))
      // Whole stretches, as many as begin within the span.
      const from = Math.max(firstIn(fromAt), kept.until ?? 0, stretchAt(clock.now()) - FRESH_MS)
      return [...known, ...(await fresh(scope, { fromAt: from, toAt: firstIn(toAt) }))].filter(hasAnything)
    },
    sizes: (workspace) => sizes(connection, workspace),
  }

  async function fresh(scope: StatsScope, span: Span): Promise<Stats[]> {
    if (span.fromAt >= span.toAt) return []
    const sums = createSums()
    await addEnded(sums, span)
    await addPassed(sums, span)
    return sums.of(scope)
  }
}

/** Writes a step down, unless another process has: what counts as counted goes with the sum that it went into. Answers how far all is summed up. */
function* keep(sums: Sums, { fromAt, toAt }: Span): Steps<number> {
  const [now] = yield* ask<{ until: number | null }>(UNTIL)
  const until = now?.until == null ? null : now.until + STATS_BUCKET_MS
  if (until !== null && until !== fromAt) return until
  for (let [at, place] = [fromAt, -1]; ; ) {
    const rows = yield* ask<PassedRow>(PASSED, at, place, toAt)
    for (const row of rows) sums.add(passedOf(row))
    yield { text: TAKEN, values: [JSON.stringify(rows.map((row) => row.place))], rows: rows.length }
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE_ROWS) break
    ;[at, place] = [last.at, last.place]
  }
  const kept = toStoredSums(sums, { fromAt, toAt }).map(({ scope, stats }) => [scope, stats.at, statsText(stats)])
  for (let from = 0; from < kept.length; from += PAGE_ROWS) {
    const some = kept.slice(from, from + PAGE_ROWS)
    yield { text: WRITE, values: [JSON.stringify(some)], rows: some.length }
  }
  return toAt
}

function endedOf([at, workspace, job, queue, state, attempts, dueAt, startedAt, doubled]: EndedRow): Ended {
  const durationMs = startedAt === null ? 0 : at - startedAt
  return {
    ...{ at, workspace, job, queue, state, count: 1, attempts, doubled, durationMs, durationMaxMs: durationMs },
    latenessMaxMs: startedAt === null ? 0 : Math.max(0, startedAt - dueAt),
    lateness: startedAt === null ? null : classOf(LATENESS_BOUNDS, startedAt - dueAt),
    duration: startedAt === null ? null : classOf(DURATION_BOUNDS, durationMs),
  }
}

const passedOf = ({ at, workspace, job, queue, state, count }: PassedRow): Ended => ({
  ...{ at, workspace, job, queue, state, count, attempts: 0, doubled: 0, durationMs: 0 },
  ...{ lateness: null, duration: null, latenessMaxMs: 0, durationMaxMs: 0 },
})

/** The first beginning of a stretch from an instant on. */
const firstIn = (at: number): number => Math.ceil(at / STATS_BUCKET_MS) * STATS_BUCKET_MS
