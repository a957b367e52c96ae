/** A statement with its name, and lists as array literals; what the statements say stands with the verbs. */
import { createHash } from 'node:crypto'
import type { Executor } from '../contract/executor.ts'
import { failureOf } from './failure.ts'

export interface Statement {
  readonly text: string
  /** Under which the server keeps it; absent for those that are planned again each time. */
  readonly name?: string
  /** Whether a row is a list of values rather than an object: a third of the work where there are many of both. */
  readonly rowMode?: 'array'
  /** Whether it may take as long as it takes. */
  readonly patient?: true
}

/** Runs one statement and answers its rows. */
export type Ask = <Row>(statement: Statement, values: readonly Value[]) => Promise<Row[]>

/** Bytes only on connections of our own: what they mean is between this driver and the server. */
export type Value = string | number | boolean | Buffer | null

/** Named after its text, so that two versions or two schemas never share a name on one connection. */
export function prepared(text: string): Statement {
  return { text, name: `everytick_${createHash('sha1').update(text).digest('hex').slice(0, 20)}` }
}

/** For statements whose best plan depends on what is asked for. */
export const unprepared = (text: string): Statement => ({ text })

/** For changes of the schema, and for waiting until another has made them. */
export const patient = (text: string): Statement => ({ text, patient: true })

/** Asks inside the caller's own transaction. */
export const within =
  (tx: Executor): Ask =>
  async <Row>({ text }: Statement, values: readonly Value[]) => {
    try {
      return (await tx.query(text, [...values])).rows as Row[]
    } catch (error) {
      throw failureOf(error, 'the database of your transaction')
    }
  }

/*
 * Lists travel as the text of an array (`$1::text::uuid[]` on the other side): every driver a caller's transaction may
 * come from can bind a text, while arrays are each driver's own affair; and it is the fastest to build.
 */

/**
 * SQL that joins one row which the planner takes for a hundred. It takes a list that it does not know for ten rows, and
 * what became of them for one, and would then compare each of a thousand with each of a thousand; with this it hashes.
 */
export const MANY = `cross join json_array_elements('[0]')`

/** SQL for the rows of parallel lists, from their columns and types; `first` is the number of the first parameter. */
export function listOf(columns: Readonly<Record<string, string>>, first = 1): string {
  const lists = Object.values(columns).map((type, i) => `$${first + i}::text::${type}[]`)
  return `select list.* from unnest(${lists.join(', ')}) as list (${Object.keys(columns).join(', ')})`
}

/** The same for lists that are joined with something. */
export const rowsOf = (columns: Readonly<Record<string, string>>, first = 1): string =>
  `${listOf(columns, first)} ${MANY}`

/**
 * SQL for a list that the planner cannot look into. Otherwise it plans again for each, since a plan for the one queue that
 * is asked for seems cheaper than one for any number; making such a plan takes longer than carrying it out.
 */
export const unseen = (parameter: number, type: string): string => `(select $${parameter}::text)::${type}[]`

/**
 * SQL for a list that is read once. Written where rows are compared with it, it would be read again for each row that another
 * wrote meanwhile: a thousand ids for each of a thousand runs.
 */
export const readOnce = (parameter: number, type: string): string =>
  `(select $${parameter}::text::${type}[])::${type}[]`

/** Of numbers and of ids, which need no quotes. */
export const plain = (values: readonly (string | number | boolean | null)[]): string => `{${values.map(orNull).join()}}`

const orNull = (value: string | number | boolean | null): string => (value === null ? 'NULL' : String(value))

export const texts = (values: readonly (string | null)[]): string => `{${values.map(quoted).join()}}`

function quoted(value: string | null): string {
  if (value === null) return 'NULL'
  return /["\\]/.test(value) ? `"${value.replaceAll(/["\\]/g, '\\$&')}"` : `"${value}"`
}
