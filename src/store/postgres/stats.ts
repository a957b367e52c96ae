/** Sums over what has ended, in Postgres: made a step at a time, and read together with what is newer; how they add up is `stats-sums.ts`, how large things are is `sizes.ts`. */
import { STATS_BUCKET_MS, type Stats, type StatsScope, type StatsStore } from '../contract/stats.ts'
import {
  createSums,
  type Ended,
  FRESH_MS,
  hasAnything,
  MAX_STRETCHES,
  overBy,
  type StoredSums,
  statsOf,
  statsText,
  stretchAt,
  toStoredSums,
} from '../stats-sums.ts'
import type { Connection } from './connection.ts'
import { createSizes } from './sizes.ts'
import { type Ask, plain, texts, unprepared, type Value } from './statement.ts'
import {
  countStatement,
  endedStatement,
  oldestStatement,
  passedStatement,
  readStatement,
  scanStatement,
  takenStatement,
  writeStatement,
} from './stats-statements.ts'

/** Runs that one step sums up, unless a single stretch has more: while they are added up, nothing else is done in this process. */
const STEP_RUNS = 10_000
/** Sums that are written by one statement. */
const WRITE_ROWS = 1000

/** Held to the end of the transaction: what counts as counted must be written down with the sum that it went into. */
const LOCK = unprepared('select pg_advisory_xact_lock(hashtextextended($1, 21))')

export function createStats(connection: Connection, schema: string): StatsStore {
  const [look, oldest, count] = [scanStatement(schema), oldestStatement(schema), countStatement(schema)]
  const [read, write, taken] = [readStatement(schema), writeStatement(schema), takenStatement(schema)]
  const ended = endedStatement(schema, { scope: 'all', doubled: true })

  const pollAt = async (ask: Ask) => (await ask<{ now: number; until: number | null }>(look, []))[0]!

  /** The end of a step from here on that is short enough. */
  const endOf = async (ask: Ask, fromAt: number, overAt: number): Promise<number> => {
    let stretches = Math.min(MAX_STRETCHES, (overAt - fromAt) / STATS_BUCKET_MS)
    for (; stretches > 1; stretches = Math.floor(stretches / 2)) {
      const toAt = fromAt + stretches * STATS_BUCKET_MS
      const [found] = await ask<{ many: number }>(count, [fromAt, toAt, STEP_RUNS + 1])
      if (found!.many <= STEP_RUNS) break
    }
    return fromAt + stretches * STATS_BUCKET_MS
  }

  const sumUp = async (ask: Ask, fromAt: number, toAt: number): Promise<void> => {
    const sums = createSums()
    for (const group of await ask<Ended>(ended, [fromAt, toAt])) sums.add(group)
    for (const group of await ask<Ended>(taken, [fromAt, toAt])) sums.add(group)
    const kept = toStoredSums(sums, { fromAt, toAt })
    for (let from = 0; from < kept.length; from += WRITE_ROWS) {
      const some = kept.slice(from, from + WRITE_ROWS)
      const lists = [texts(some.map(({ scope }) => scope)), plain(some.map(({ stats }) => stats.at))]
      await ask(write, [...lists, texts(some.map(({ stats }) => statsText(stats)))])
    }
  }

  /** What was not summed up yet, within the span. */
  const fresh = async (scope: StatsScope, span: { fromAt: number; toAt: number }): Promise<Stats[]> => {
    const name: Value[] = scope === 'all' ? [] : [scope.slice(scope.indexOf(':') + 1)]
    const sums = createSums()
    for (const statement of [endedStatement(schema, { scope, doubled: false }), passedStatement(schema, scope)]) {
      const groups = await connection.api.ask<Ended>(statement, [span.fromAt, span.toAt, ...name])
      for (const group of groups) sums.add(group)
    }
    return sums.of(scope)
  }

  return {
    roll: () =>
      connection.api.transact(async (ask) => {
        await ask(LOCK, [`everytick stats ${schema}`])
        const { now, until } = await pollAt(ask)
        const overAt = overBy(now)
        const begun = until ?? (await ask<{ oldest: number | null }>(oldest, []))[0]!.oldest
        const fromAt = stretchAt(begun ?? overAt)
        if (fromAt >= overAt) return { untilAt: fromAt, more: false }
        const toAt = await endOf(ask, fromAt, overAt)
        await sumUp(ask, fromAt, toAt)
        return { untilAt: toAt, more: toAt < overAt }
      }),
    async read(scope, { fromAt, toAt }) {
      const { now, until } = await pollAt(connection.api.ask)
      const kept = await connection.api.ask<{ at: number; data: StoredSums }>(read, [fromAt, toAt, scope])
      const known = kept.map(({ at, data }) => statsOf(at, data))
      // Whole stretches, as many as begin within the span.
      const from = Math.max(firstIn(fromAt), until ?? 0, stretchAt(now) - FRESH_MS)
      const to = firstIn(toAt)
      return [...known, ...(from < to ? await fresh(scope, { fromAt: from, toAt: to }) : [])].filter(hasAnything)
    },
    sizes: createSizes(connection, schema),
  }
}

/** The first beginning of a stretch from an instant on. */
const firstIn = (at: number): number => Math.ceil(at / STATS_BUCKET_MS) * STATS_BUCKET_MS
