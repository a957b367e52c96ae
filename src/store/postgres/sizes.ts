/** How much there is, in Postgres, at any size in a few milliseconds: counted as far as that is quick, estimated by the server beyond. */
import type { Sizes, StatsStore } from '../contract/stats.ts'
import type { Connection } from './connection.ts'
import { type Statement, unprepared, type Value } from './statement.ts'

/** Rows that are counted one by one. */
export const COUNT_ROWS = 10_000

/** What is counted; `isFound` where an index has just these, otherwise the rows of the table are looked through. */
const KINDS = {
  schedules: { table: 'schedules', which: 'true' },
  paused: { table: 'schedules', which: 'pause is not null' },
  quarantined: { table: 'schedules', which: 'quarantine is not null' },
  liveRuns: { table: 'runs', which: 'true' },
  finishedRuns: { table: 'history', which: 'true' },
} as const
type Kind = keyof typeof KINDS
const NAMES = Object.keys(KINDS) as Kind[]

interface Plan {
  'QUERY PLAN': readonly [{ readonly Plan: { readonly 'Plan Rows': number } }]
}

export function createSizes(connection: Connection, schema: string): StatsStore['sizes'] {
  const { ask } = connection.api
  const [ofAll, ofOne] = [countsStatement(schema, false), countsStatement(schema, true)]
  return async (workspace) => {
    const values: Value[] = workspace === undefined ? [] : [workspace]
    const [counted] = await ask<Record<Kind, number | null>>(workspace === undefined ? ofAll : ofOne, values)
    const sizes = { ...counted! }
    for (const kind of NAMES) {
      if (sizes[kind] !== null) continue
      const [plan] = await ask<Plan>(guessStatement(schema, kind, workspace !== undefined), values)
      const guess = plan!['QUERY PLAN'][0].Plan['Plan Rows']
      // More than were counted there are in any case: a server that has not looked lately may think otherwise.
      sizes[kind] = workspace === undefined ? Math.max(guess, COUNT_ROWS) : guess
    }
    return {
      ...(sizes as Record<Kind, number>),
      estimated: NAMES.some((kind) => counted![kind] === null),
    } satisfies Sizes
  }
}

const ofWorkspace = 'workspace = $1::text'

/** Null for what is too much to count. Runs have no index by workspace, so that it is the look that is bounded there. */
const countsStatement = (schema: string, isOne: boolean): Statement => {
  const count = (kind: Kind): string => {
    const { table, which } = KINDS[kind]
    const isFound = table === 'schedules' && isOne
    const within = isFound ? `${which} and ${ofWorkspace}` : which
    const matching = isOne && !isFound ? `count(*) filter (where ${ofWorkspace})` : 'count(*)'
    return `(
  select case when count(*) <= ${COUNT_ROWS} then ${matching} end
  from (select workspace from ${schema}.${table} where ${within} limit ${COUNT_ROWS + 1}) looked
) as "${kind}"`
  }
  return unprepared(`select ${NAMES.map(count).join(', ')}`)
}

/** What the server, which knows how many pages there are, would expect to find. */
const guessStatement = (schema: string, kind: Kind, isOne: boolean): Statement => {
  const { table, which } = KINDS[kind]
  return unprepared(
    `explain (format json) select from ${schema}.${table} where ${which} ${isOne ? `and ${ofWorkspace}` : ''}`,
  )
}
