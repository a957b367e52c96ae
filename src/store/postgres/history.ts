/** Reads for people in Postgres: single runs wherever they stand, the journal, and revisions; pages of runs are `find-runs.ts`, what became of occurrences is `ledger.ts`. */
import type { Json } from '../../json.ts'
import type { HistoryStore, JournalKind, Revision } from '../contract/history.ts'
import type { Connection } from './connection.ts'
import { createFindNonRuns } from './find-non-runs.ts'
import { createFindRuns } from './find-runs.ts'
import { createLatest } from './latest.ts'
import { createLedger } from './ledger.ts'
import { finishedFields, isId, liveFields, msOf, type RunRow, runOf } from './rows.ts'
import { prepared, type Statement } from './statement.ts'

export function createHistory(connection: Connection, schema: string): HistoryStore {
  const run = runStatement(schema)
  const [ofRun, ofSchedule] = [journalStatement(schema, 'run_id'), journalStatement(schema, 'schedule_id')]
  const revisions = revisionsStatement(schema)
  const { ask } = connection.api
  return {
    async run(id) {
      const [row] = isId(id) ? await ask<RunRow>(run, [id]) : []
      return row ? runOf(row) : null
    },
    async journal(of) {
      const [statement, id] = 'runId' in of ? [ofRun, of.runId] : [ofSchedule, of.scheduleId]
      const rows = isId(id) ? await ask<JournalRow>(statement, [id]) : []
      return rows.map(({ run_id: runId, schedule_id: scheduleId, ...rest }) => ({ ...rest, runId, scheduleId }))
    },
    async revisions(scheduleId) {
      const rows = isId(scheduleId) ? await ask<RevisionRow>(revisions, [scheduleId]) : []
      return rows.map(({ cut_at: cutAt, ...rest }) => ({ ...rest, cutAt, scheduleId }))
    },
    ...createFindRuns(connection, schema),
    ...createLatest(connection, schema),
    ...createLedger(connection, schema),
    ...createFindNonRuns(connection, schema),
  }
}

interface JournalRow {
  at: number
  kind: JournalKind
  run_id: string | null
  schedule_id: string | null
  data: Json
}

type RevisionRow = Omit<Revision, 'scheduleId' | 'cutAt'> & { cut_at: number }

/** One statement, so that a run that moves meanwhile is seen once. */
const runStatement = (schema: string): Statement =>
  prepared(`
select ${liveFields('r')} from ${schema}.runs r where r.id = $1::uuid
union all
select ${finishedFields('h')} from ${schema}.history h where h.id = $1::uuid
limit 1`)

const journalStatement = (schema: string, column: 'run_id' | 'schedule_id'): Statement =>
  prepared(`
select ${msOf('j.at')} as at, j.kind, j.run_id, j.schedule_id, j.data from ${schema}.journal j
where j.${column} = $1::uuid
order by j.at, j.id`)

/** The newest, oldest first. */
const MAX_REVISIONS = 1000

const revisionsStatement = (schema: string): Statement =>
  prepared(`
select workspace, key, kind, revision, by, before, after, ${msOf('at')} as at, ${msOf('cut_at')} as cut_at
from (
  select * from ${schema}.revisions where schedule_id = $1::uuid order by id desc limit ${MAX_REVISIONS}
) newest
order by id`)
