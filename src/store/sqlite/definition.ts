/** A schedule's definition as the values of its columns and as one text, and whether two are the same; writing them is `put.ts`. */
import { isDeepStrictEqual } from 'node:util'
import { toJsonText } from '../../json.ts'
import type { ScheduleDefinition } from '../../schedule/schedule.ts'
import { textOf } from './rows.ts'

/** The columns of a definition that a change may touch. */
export interface Columns {
  readonly timing: string
  readonly job: string
  readonly queue: string
  readonly payload: string
  readonly priority: number
  readonly policy: string
  readonly catch_up: string
  readonly firing: string
  readonly description: string
  readonly tags: string
  readonly metadata: string
  readonly source: string
}

const JSON_COLUMNS = ['timing', 'payload', 'policy', 'catch_up', 'firing', 'tags', 'metadata'] as const
const PLAIN_COLUMNS = ['job', 'queue', 'priority', 'description', 'source'] as const

export const columnsOf = (definition: ScheduleDefinition): Columns => ({
  timing: toJsonText(definition.timing, { what: 'timing' }),
  job: textOf(definition.job, 'job'),
  queue: textOf(definition.queue, 'queue'),
  payload: toJsonText(definition.payload, { what: 'payload' }),
  priority: definition.priority,
  policy: toJsonText(definition.policy, { what: 'policy' }),
  catch_up: toJsonText(definition.catchUp, { what: 'catchUp' }),
  firing: toJsonText(definition.firing, { what: 'firing' }),
  description: textOf(definition.description, 'description'),
  tags: toJsonText(definition.tags, { what: 'tags' }),
  metadata: toJsonText(definition.metadata, { what: 'metadata' }),
  source: definition.source,
})

/** The names of the columns, in the order of `valuesOf`. */
export const COLUMNS = `timing, job, queue, payload, priority, policy, catch_up, firing, description, tags, metadata, source`

export const valuesOf = (columns: Columns): (string | number)[] => [
  ...[columns.timing, columns.job, columns.queue, columns.payload, columns.priority, columns.policy, columns.catch_up],
  ...[columns.firing, columns.description, columns.tags, columns.metadata, columns.source],
]

/** The definition as a revision keeps it, without workspace and key. */
export function snapshotOf(columns: Columns): string {
  const { timing, payload, policy, catch_up: catchUp, firing, tags, metadata } = columns
  const parts = Object.entries({ timing, payload, policy, catchUp, firing, tags, metadata }).map(
    ([name, text]) => `"${name}":${text}`,
  )
  for (const column of PLAIN_COLUMNS) parts.push(`"${column}":${JSON.stringify(columns[column])}`)
  return `{${parts.join(',')}}`
}

export const sameColumns = (a: Columns, b: Columns): boolean =>
  PLAIN_COLUMNS.every((column) => a[column] === b[column]) &&
  JSON_COLUMNS.every((column) => sameJson(a[column], b[column]))

/** The order of keys does not count, as it does not in Postgres. */
export const sameJson = (a: string, b: string): boolean => a === b || isDeepStrictEqual(JSON.parse(a), JSON.parse(b))
