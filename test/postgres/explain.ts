/** Asks Postgres how it would run, and has run, a statement; whether the answer is good is said by the tests. */
import type pg from 'pg'
import type { Value } from '../../src/store/postgres/statement.ts'

/** One node of a plan with those below it, as EXPLAIN tells it. */
export interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Total Cost': number
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Join Filter'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
  readonly Plans?: readonly PlanNode[]
}

/** As a prepared statement is planned when its values are not looked at, and as it is when they are. */
export const MODES = ['force_generic_plan', 'force_custom_plan'] as const

export interface Question {
  readonly text: string
  readonly values: readonly Value[]
  readonly mode?: (typeof MODES)[number]
}

/** Runs the statement, undoes it, and answers every node of its plan, the topmost first. */
export const explain = (client: pg.Client, question: Question): Promise<PlanNode[]> =>
  explained(client, question, { how: 'analyze, buffers' })

/** Prepares a statement and has it planned for any values, as the server keeps it from then on. */
export async function keepPlan(client: pg.Client, { name, text }: { name: string; text: string }): Promise<void> {
  await client.query(`prepare ${name} as ${text}`)
  const numbers = [...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number))
  const given =
    numbers.length > 0
      ? `(${Array(Math.max(...numbers))
          .fill('null')
          .join(', ')})`
      : ''
  await client.query(`explain execute ${name}${given}`)
}

/** The same as `explain` for a statement whose plan was kept. */
export async function explainKept(
  client: pg.Client,
  { name, values }: { name: string; values: readonly Value[] },
): Promise<PlanNode[]> {
  await client.query('begin')
  try {
    const { rows } = await client.query(
      `explain (analyze, buffers, format json) execute ${name}${await givenText(client, values)}`,
    )
    return nodesOf(rows[0]['QUERY PLAN'][0].Plan)
  } finally {
    await client.query('rollback')
  }
}

/** What the server's planner takes the statement to cost where every table has so many rows; runs nothing. */
export async function foreseenCost(client: pg.Client, question: Question, rows: number): Promise<number> {
  const believe = `
    update pg_class set reltuples = ${rows}, relpages = pg_relation_size(oid) / 8192
    where relkind in ('r', 'i') and relnamespace = 'everytick'::regnamespace and pg_relation_size(oid) > 0`
  const [top] = await explained(client, question, { how: 'costs', believe })
  return top!['Total Cost']
}

async function explained(
  client: pg.Client,
  { text, values, mode = MODES[0] }: Question,
  { how, believe }: { how: string; believe?: string },
): Promise<PlanNode[]> {
  await client.query(`set plan_cache_mode = ${mode}`)
  await client.query(`prepare explained as ${text}`)
  await client.query('begin')
  try {
    if (believe) await client.query(believe)
    const given = await givenText(client, values)
    const { rows } = await client.query(`explain (${how}, format json) execute explained${given}`)
    return nodesOf(rows[0]['QUERY PLAN'][0].Plan)
  } finally {
    await client.query('rollback; deallocate explained; reset plan_cache_mode')
  }
}

async function givenText(client: pg.Client, values: readonly Value[]): Promise<string> {
  const literals: string[] = []
  for (const value of values) literals.push(literal(Buffer.isBuffer(value) ? await listText(client, value) : value))
  return values.length > 0 ? `(${literals.join(', ')})` : ''
}

const literal = (value: Exclude<Value, Buffer>): string =>
  typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)

/** Of a list that `bytes.ts` put together: the type of its values stands after two numbers, and the server reads the rest. */
async function listText(client: pg.Client, list: Buffer): Promise<string> {
  const types = await client.query('select format_type($1, null) as type', [list.readInt32BE(8)])
  const { rows } = await client.query(`select $1::${types.rows[0].type}[]::text as list`, [list])
  return rows[0].list
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

/** How many pages the whole statement touched, in memory or on disk. */
export const pagesOf = ([top]: readonly PlanNode[]): number => top!['Shared Hit Blocks'] + top!['Shared Read Blocks']

/** Tables that were read from end to end. */
export const readWhole = (nodes: readonly PlanNode[]): string[] =>
  nodes.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name'] ?? '')

/** The most rows that one node produced or threw away, over all its loops. */
export const mostRows = (nodes: readonly PlanNode[]): number =>
  Math.max(
    ...nodes.map((node) => {
      const thrown = (node['Rows Removed by Join Filter'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)
      return (node['Actual Rows'] + thrown) * node['Actual Loops']
    }),
  )
