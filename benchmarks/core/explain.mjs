/** Asks Postgres how it carries out our own statements, as it would when they are prepared: which indexes, how many pages. */
import { claimStatement } from '../../dist/store/postgres/claims.js'
import { dueStatement } from '../../dist/store/postgres/planning.js'
import { median } from '../harness.mjs'

const SCHEMA = '"everytick"'

/** The look for due schedules; throws unless the partial index leads to them. */
export const explainDue = (place, lookaheadMs) =>
  place.session(async (client) => {
    const found = await explained(client, { text: dueStatement(SCHEMA).text, values: [lookaheadMs, 1000], times: 3 })
    return held(found, 'cursors_due')
  })

/** Claims of 100 runs each, really granted; throws unless the index of pending runs leads to them. */
export const explainClaim = (place, times) =>
  place.session(async (client) => {
    const values = ["'bench'", 15_000, "'{default}'", "'{100}'"]
    const found = await explained(client, { text: claimStatement(SCHEMA).text, values, times })
    return held(found, 'runs_pending')
  })

function held(found, index) {
  if (found.indexes.includes(index) && found.scanned.length === 0) return found
  throw new Error(`${index} was not used, or all of a table was read: ${JSON.stringify(found)}`)
}

async function explained(client, { text, values, times }) {
  await client.query('set plan_cache_mode = force_generic_plan')
  await client.query(`prepare asked as ${text}`)
  const plans = []
  for (let i = 0; i < times; i++) {
    const { rows } = await client.query(`explain (analyze, buffers, format json) execute asked(${values.join(', ')})`)
    plans.push(rows[0]['QUERY PLAN'][0].Plan)
  }
  const nodes = nodesOf(plans.at(-1))
  return {
    pages: median(plans.map((plan) => plan['Shared Hit Blocks'] + plan['Shared Read Blocks'])),
    indexes: [...new Set(nodes.flatMap((node) => node['Index Name'] ?? []))].sort(),
    scanned: nodes.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name']),
  }
}

const nodesOf = (node) => [node, ...(node.Plans ?? []).flatMap(nodesOf)]
