/** Reads for people in Postgres: single runs wherever they stand, the journal, and revisions; pages of runs are `find-runs.ts`, what became of occurrences is `ledger.ts`. */
import type { Json } from '../../json.ts'
import type { RunState } from '../../run/state.ts'
import {
  type HistoryStore,
  type JournalEntry,
  type JournalKind,
  MAX_KINDS,
  MAX_REVISIONS,
  type Revision,
} from '../contract/history.ts'
import { definitions } from '../definitions.ts'
import type { Connection } from './connection.ts'
import { createFindNonRuns } from './find-non-runs.ts'
import { createFindRuns } from './find-runs.ts'
import { createLatest } from './latest.ts'
import { createLedger } from './ledger.ts'
import { finishedFields, isId, liveFields, msOf, type RunRow, runOf } from './rows.ts'
import { prepared, type Statement } from './statement.ts'
import { unbounded, withinBytes } from './within-bytes.ts'

export function createHistory(connection: Connection, schema: string): HistoryStore {
  const [run, states] = [runStatement(schema), statesStatement(schema)]
  const [ofRun, ofSchedule] = [journalStatement(schema, 'run_id'), journalStatement(schema, 'schedule_id')]
  const revisions = revisionsStatement(schema)
  const [revisionsAfter, journalAfter] = [revisionPageStatement(schema), journalPageStatement(schema)]
  const kinds = journalKindsStatement(schema)
  const { ask } = connection.api
  const revisionPage: HistoryStore['revisionPage'] = async (scheduleId, { limit, after = 0, maxBytes }) => {
    const given = [scheduleId, after, limit + 1, maxBytes]
    const { rows, isCut } = unbounded(isId(scheduleId) ? await ask<RevisionRow & Placed>(revisionsAfter, given) : [])
    const revisions = rows.slice(0, limit).map(({ id: _, cut_at: cutAt, ...rest }) => ({ ...rest, cutAt, scheduleId }))
    return { revisions, next: isCut || rows.length > limit ? rows[revisions.length - 1]!.id : null }
  }
  return {
    async run(id) {
      const [row] = isId(id) ? await ask<RunRow>(run, [id]) : []
      return row ? runOf(row) : null
    },
    async states(ids) {
      const rows = await ask<{ id: string; state: RunState }>(states, [`{${ids.filter(isId).join()}}`])
      return new Map(rows.map(({ id, state }) => [id, state]))
    },
    async journal(of) {
      const [statement, id] = 'runId' in of ? [ofRun, of.runId] : [ofSchedule, of.scheduleId]
      const rows = isId(id) ? await ask<JournalRow>(statement, [id]) : []
      return rows.map(({ run_id: runId, schedule_id: scheduleId, ...rest }) => ({ ...rest, runId, scheduleId }))
    },
    async journalKinds(runId) {
      return isId(runId) ? ask<Pick<JournalEntry, 'at' | 'kind'>>(kinds, [runId]) : []
    },
    async journalPage(runId, { limit, after = 0, maxBytes }) {
      const given = [runId, after, limit + 1, maxBytes]
      const { rows, isCut } = unbounded(isId(runId) ? await ask<JournalRow & Placed>(journalAfter, given) : [])
      const entries = rows
        .slice(0, limit)
        .map(({ id: _, run_id, schedule_id: scheduleId, ...rest }) => ({ ...rest, runId: run_id, scheduleId }))
      return { entries, next: isCut || rows.length > limit ? rows[entries.length - 1]!.id : null }
    },
    definitions: (scheduleId) => definitions(revisionPage, scheduleId),
    revisionPage,
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

interface Placed {
  id: number
}

type RevisionRow = Omit<Revision, 'scheduleId' | 'cutAt'> & { cut_at: number }

/** One statement, so that a run that moves meanwhile is seen once. */
const runStatement = (schema: string): Statement =>
  prepared(`
select ${liveFields('r')} from ${schema}.runs r where r.id = $1::uuid
union all
select ${finishedFields('h')} from ${schema}.history h where h.id = $1::uuid
limit 1`)

const statesStatement = (schema: string): Statement =>
  prepared(`
select r.id, r.state from ${schema}.runs r where r.id = any($1::text::uuid[])
union all
select h.id, h.state from ${schema}.history h where h.id = any($1::text::uuid[])`)

const journalStatement = (schema: string, column: 'run_id' | 'schedule_id'): Statement =>
  prepared(`
select ${msOf('j.at')} as at, j.kind, j.run_id, j.schedule_id, j.data from ${schema}.journal j
where j.${column} = $1::uuid
order by j.at, j.id`)

/** The newest, oldest first. */
const revisionsStatement = (schema: string): Statement =>
  prepared(`
select workspace, key, kind, revision, by, before, after, ${msOf('at')} as at, ${msOf('cut_at')} as cut_at
from (
  select * from ${schema}.revisions where schedule_id = $1::uuid order by id desc limit ${MAX_REVISIONS}
) newest
order by id`)

const revisionPageStatement = (schema: string): Statement => {
  const page = `
select id, workspace, key, kind, revision, by, before, after, ${msOf('at')} as at, ${msOf('cut_at')} as cut_at
from ${schema}.revisions where schedule_id = $1::uuid and id > $2::bigint order by id limit $3::int`
  return prepared(withinBytes(page, { order: 'q.id', columns: ['before', 'after'], maxBytes: '$4::bigint' }))
}

const journalKindsStatement = (schema: string): Statement =>
  prepared(`
select at, kind from (
  select j.id, ${msOf('j.at')} as at, j.kind from ${schema}.journal j
  where j.run_id = $1::uuid order by j.id desc limit ${MAX_KINDS}
) newest
order by id`)

const journalPageStatement = (schema: string): Statement => {
  const page = `
select j.id, ${msOf('j.at')} as at, j.kind, j.run_id, j.schedule_id, j.data from ${schema}.journal j
where j.run_id = $1::uuid and j.id > $2::bigint order by j.id limit $3::int`
  return prepared(withinBytes(page, { order: 'q.id', columns: ['data'], maxBytes: '$4::bigint' }))
}
