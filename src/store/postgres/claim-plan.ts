/** How the server would look for due runs, asked of its planner without running anything. */
import { claimStatement, numbered, oldestValues } from './claim.ts'
import type { Connection } from './connection.ts'
import { prepared, unprepared } from './statement.ts'

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly Alias?: string
  readonly 'Index Name'?: string
  readonly Plans?: readonly PlanNode[]
}

const ASKED = oldestValues(numbered({ workerId: '', leaseMs: 1000, wanted: [{ queue: 'default', limit: 1 }] }))

const SMALL_BYTES = 4 * 1024 * 1024

export function claimPlanOf(connection: Connection, schema: string): () => Promise<'index' | 'scan' | null> {
  const statement = unprepared(`explain (format json) ${claimStatement(schema).text}`)
  const small = prepared(`
    select pg_relation_size('${schema}.runs') <= ${SMALL_BYTES} and exists (
      select 1 from pg_index where indexrelid = to_regclass('${schema}.runs_pending') and indisvalid
    ) as small`)
  return async () => {
    const [row] = await connection.api.ask<{ 'QUERY PLAN': readonly { Plan: PlanNode }[] }>(statement, ASKED)
    const plan = row?.['QUERY PLAN'][0]?.Plan
    if (!plan) return null
    if (readPlan(plan) !== 'scan') return readPlan(plan)
    // A small table is read through within milliseconds, and where few of its rows are left the server may prefer that.
    const [table] = await connection.api.ask<{ small: boolean }>(small, [])
    return table?.small ? 'index' : 'scan'
  }
}

/** What is found is then written by its place in the table, which in a table of a page may well be a scan; that is another name. */
export function readPlan(plan: PlanNode): 'index' | 'scan' | null {
  const looks = nodesOf(plan).filter(
    (node) => node['Relation Name'] === 'runs' && /^p(?:_\d+)?$/.test(node.Alias ?? ''),
  )
  if (looks.length === 0) return null
  return looks.every((node) => indexOf(node) === 'runs_pending') ? 'index' : 'scan'
}

/** What a bitmap is made from stands below it. */
const indexOf = (node: PlanNode): string | undefined => node['Index Name'] ?? node.Plans?.[0]?.['Index Name']

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]
