/** How the server would look for due runs, asked of its planner without running anything. */
import { claimStatement, oldestValues } from './claim.ts'
import type { Connection } from './connection.ts'
import { unprepared } from './statement.ts'

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly Alias?: string
  readonly 'Index Name'?: string
  readonly Plans?: readonly PlanNode[]
}

const ASKED = oldestValues({ workerId: '', leaseMs: 1000, wanted: [{ queue: 'default', limit: 1 }] })

export function claimPlanOf(connection: Connection, schema: string): () => Promise<'index' | 'scan' | null> {
  const statement = unprepared(`explain (format json) ${claimStatement(schema).text}`)
  return async () => {
    const [row] = await connection.api.ask<{ 'QUERY PLAN': readonly { Plan: PlanNode }[] }>(statement, ASKED)
    const plan = row?.['QUERY PLAN'][0]?.Plan
    return plan ? readPlan(plan) : null
  }
}

/** What is found is then written by its place in the table, which in a table of a page may well be a scan; that is another name. */
export function readPlan(plan: PlanNode): 'index' | 'scan' | null {
  const looks = nodesOf(plan).filter(
    (node) => node['Relation Name'] === 'runs' && /^p(?:_\d+)?$/.test(node.Alias ?? ''),
  )
  if (looks.length === 0) return null
  return looks.every((node) => node['Index Name'] === 'runs_pending') ? 'index' : 'scan'
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]
