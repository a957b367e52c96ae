/** The cursors in Postgres, and what moves or parks them; who is due is `due.ts`, and how plans are written `record.ts`. */
import { toJsonText } from '../../json.ts'
import type { PlanningStore } from '../contract/planning.ts'
import type { Connection } from './connection.ts'
import { dueOn } from './due.ts'
import { createRecord } from './record.ts'
import { createRowAddresses } from './row-addresses.ts'
import { instantAt, msOf } from './rows.ts'
import { prepared, type Statement, within } from './statement.ts'
import type { Wake } from './wake.ts'

export function createPlanning(connection: Connection, wake: Wake, schema: string): PlanningStore {
  const addresses = createRowAddresses()
  const [record, quarantine] = [createRecord(connection, schema, addresses), quarantineStatement(schema)]
  return {
    // One connection reads or writes while the other writes; more would be in the way of claims and settlements.
    recordsAtOnce: 3,
    due: dueOn(connection, schema, { addresses }),
    async record(plans, tx) {
      if (plans.length === 0) return []
      const { answers, queues } = await record(plans, tx)
      const hint = { kind: 'runs', queues } as const
      if (queues.length > 0) await (tx ? wake.notifyWithin(within(tx), hint) : wake.tell(hint))
      return answers
    },
    async quarantine({ id, revision, nextAt }, why) {
      await connection.hot.ask(quarantine, [id, revision, nextAt, toJsonText(why, { what: 'the reason' })])
    },
  }
}

const quarantineStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now),
held as materialized (select id from ${schema}.schedules where id = $1::uuid and revision = $2::int for update),
parked as (
  update ${schema}.cursors set next_at = null
  where schedule_id = (select id from held) and revision = $2::int and next_at = ${instantAt('$3::float8')}
  returning schedule_id
),
aside as (
  update ${schema}.schedules
  set quarantine = $4::text::jsonb || jsonb_build_object('at', ${msOf('(select now from clock)')})
  where id = (select schedule_id from parked)
)
insert into ${schema}.journal (at, kind, schedule_id, data)
select clock.now, 'quarantined', parked.schedule_id, $4::text::jsonb
from parked cross join clock`)
