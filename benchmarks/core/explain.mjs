/** Asks Postgres how it carries out what a verb of ours says to it, planned as for a prepared statement: which indexes, how many pages. */
import { openPostgres } from 'everytick/postgres'
import pg from 'pg'
import { median } from '../harness.mjs'

/** The look for due schedules; throws unless the partial index leads to them. */
export const explainDue = (place, { lookaheadMs, times }) =>
  explained(place, { verb: (store) => store.planning.due({ lookaheadMs, limit: 1000 }), index: 'cursors_due', times })

/** Claims of 100 runs each, really granted, and gone afterwards; throws unless the index of pending runs leads to them. */
export async function explainClaim(place, { times }) {
  const request = { workerId: 'bench', leaseMs: 60_000, wanted: [{ queue: 'default', limit: 100 }] }
  const found = await explained(place, { verb: (store) => store.claims.claim(request), index: 'runs_pending', times })
  await place.session((client) => client.query(`delete from everytick.runs where worker_id = '${request.workerId}'`))
  return found
}

async function explained(place, { verb, index, times }) {
  const said = await overheard(place.address.where, verb)
  const found = await place.session((client) => explainEach(client, said, times))
  if (found.indexes.includes(index) && found.scanned.length === 0) return found
  throw new Error(`${index} was not used, or all of a table was read: ${JSON.stringify(found)}`)
}

/** The statements, with their values, that a store sends while it does something. */
async function overheard(url, verb) {
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  // A connection that is cut off while it closes is no news.
  pool.on('error', () => {})
  const said = []
  const listening = async () => {
    const client = await pool.connect()
    const query = (config) => {
      said.push({ text: config.text, values: config.values ?? [] })
      return client.query(config)
    }
    const [on, off] = [client.on.bind(client), client.off.bind(client)]
    return { query, on, off, release: (broken) => client.release(broken) }
  }
  const store = await openPostgres({ pool: { connect: listening }, listen: false })
  said.length = 0
  await verb(store)
  const heard = [...said]
  await store.close()
  await pool.end()
  return heard
}

async function explainEach(client, said, times) {
  await client.query('set plan_cache_mode = force_generic_plan')
  const ask = []
  for (const [i, { text, values }] of said.entries()) {
    await client.query(`prepare said_${i} as ${text}`)
    const given = values.length === 0 ? '' : `(${values.map(literal).join()})`
    ask.push(`explain (analyze, buffers, format json) execute said_${i}${given}`)
  }
  const plans = []
  for (let time = 0; time < times; time++) {
    const answers = []
    for (const text of ask) answers.push((await client.query(text)).rows[0]['QUERY PLAN'][0].Plan)
    plans.push(answers)
  }
  const nodes = plans.at(-1).flatMap(nodesOf)
  const pagesOf = (plan) => plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
  return {
    pages: median(plans.map((answers) => answers.reduce((sum, plan) => sum + pagesOf(plan), 0))),
    indexes: [...new Set(nodes.flatMap((node) => node['Index Name'] ?? []))].sort(),
    scanned: nodes.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name']),
  }
}

const literal = (value) => (typeof value === 'string' ? pg.escapeLiteral(value) : String(value))
const nodesOf = (node) => [node, ...(node.Plans ?? []).flatMap(nodesOf)]
