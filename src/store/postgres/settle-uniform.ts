/** The shortest way to end claims: runs of one worker that succeeded under one fence with one result, as most do; which settlements may take it is decided here, and everything else by `settle.ts`. */
import { toJsonText } from '../../json.ts'
import type { Settlement } from '../contract/claims.ts'
import { uuids } from './bytes.ts'
import { RUN_COLUMNS } from './rows.ts'
import { prepared, type Statement, type Value } from './statement.ts'

type Succeeded = Settlement & { readonly verdict: { readonly kind: 'final'; readonly state: 'succeeded' } }

/** The values for `finishUniformStatement`; null when the settlements differ. */
export function uniformValues(settlements: readonly Settlement[]): Value[] | null {
  const [first] = settlements
  if (!first || !hasSucceeded(first)) return null
  const { fence, workerId } = first
  const { result } = first.verdict
  const isUniform = (one: Settlement): boolean =>
    hasSucceeded(one) && one.verdict.result === result && one.fence === fence && one.workerId === workerId
  if (!settlements.every(isUniform)) return null
  const ids = settlements.map(({ id }) => id)
  const claims = settlements.map(({ claimId }) => claimId)
  if (!claims.every((claim) => claim !== null)) return null
  // Of two with one id, the second must be refused.
  if (new Set(ids).size < ids.length) return null
  return [uuids(ids), fence, toJsonText(result, { what: 'result' }), workerId, ids.length, uuids(claims)]
}

const hasSucceeded = (one: Settlement): one is Succeeded =>
  one.verdict.kind === 'final' && one.verdict.state === 'succeeded' && !one.onlyExpired && !one.progress

const MOVED = RUN_COLUMNS.filter((column) => !['state', 'lease_until', 'error'].includes(column))

/**
 * `is true` keeps the server from joining the claims, which it would do by comparing each run with each of them; it hashes them instead.
 * Which were refused is looked for only where fewer were ended than given. The list of those to end is one that the planner
 * cannot look into: a plan for one run would seem cheaper than one for any number, and be made again each time.
 */
export const finishUniformStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now),
gone as (
  delete from ${schema}.runs r
  where r.id = any((select $1::uuid[])::uuid[]) and r.fence = $2::bigint and r.state = 'running'
    and ((r.id, r.claim_id) in (select given.id, given.claim from unnest($1::uuid[], $6::uuid[]) as given (id, claim))) is true
  returning ${MOVED.map((column) => `r.${column}`).join(', ')}
),
finished as (
  insert into ${schema}.history (${MOVED.join(', ')}, state, error, result, finished_at)
  select ${MOVED.map((column) => `gone.${column}`).join(', ')}, 'succeeded', null, $3::text::jsonb, clock.now
  from gone cross join clock
),
refused as materialized (
  select given.id from unnest($1::uuid[]) as given (id)
  where (select count(*) from gone) < $5::int and given.id not in (select id from gone)
),
noted as (
  insert into ${schema}.journal (at, kind, run_id, schedule_id, data)
  select clock.now, 'refused', refused.id,
    coalesce((select schedule_id from ${schema}.runs where id = refused.id), (select schedule_id from ${schema}.history where id = refused.id limit 1)),
    jsonb_build_object('workerId', $4::text, 'fence', $2::bigint,
      'verdict', jsonb_build_object('kind', 'final', 'state', 'succeeded', 'result', $3::text::jsonb))
  from refused cross join clock
)
select id from refused`)
