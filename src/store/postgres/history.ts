/** Reads for people in Postgres: runs wherever they stand, the journal, and revisions; what became of occurrences is `ledger.ts`. */
import type { Json } from '../../json.ts'
import type { RunState } from '../../run/state.ts'
import type { HistoryStore, JournalKind, Revision, RunFilter, RunPage } from '../contract/history.ts'
import type { Connection } from './connection.ts'
import { createLedger } from './ledger.ts'
import { finishedFields, instantAt, isId, liveFields, msOf, type RunRow, runOf } from './rows.ts'
import { prepared, type Statement, texts, unprepared, type Value } from './statement.ts'

const LIVE: readonly RunState[] = ['pending', 'running']

export function createHistory(connection: Connection, schema: string): HistoryStore {
  const run = runStatement(schema)
  const runs = {
    live: pageOf(schema, ['live']),
    finished: pageOf(schema, ['finished']),
    both: pageOf(schema, ['live', 'finished']),
  }
  const [ofRun, ofSchedule] = [journalStatement(schema, 'run_id'), journalStatement(schema, 'schedule_id')]
  const revisions = revisionsStatement(schema)
  const { ask } = connection.api
  return {
    async run(id) {
      const [row] = isId(id) ? await ask<RunRow>(run, [id]) : []
      return row ? runOf(row) : null
    },
    async runs(filter, page) {
      if (filter.scheduleId !== undefined && !isId(filter.scheduleId)) return []
      return (await ask<RunRow>(runs[whereabouts(filter)], valuesOf(filter, page))).map(runOf)
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
    ...createLedger(connection, schema),
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

/** Where runs in these states can stand at all, so that a question about the queue does not read through all of history. */
function whereabouts({ states }: RunFilter): 'live' | 'finished' | 'both' {
  const live = states?.filter((state) => LIVE.includes(state)).length
  if (states === undefined || (live! > 0 && live! < states.length)) return 'both'
  return live! > 0 ? 'live' : 'finished'
}

const valuesOf = ({ workspace, scheduleId, job, queue, states }: RunFilter, { limit, after }: RunPage): Value[] => [
  ...[workspace ?? null, scheduleId ?? null, job ?? null, queue ?? null, states ? texts(states) : null],
  ...[after?.createdAt ?? null, after?.id ?? null, limit],
]

/** One statement, so that a run that moves meanwhile is seen once. */
const runStatement = (schema: string): Statement =>
  prepared(`
select ${liveFields('r')} from ${schema}.runs r where r.id = $1::uuid
union all
select ${finishedFields('h')} from ${schema}.history h where h.id = $1::uuid
limit 1`)

/** Planned for each question: only then are the filters that nobody asked for gone before an index is chosen. */
function pageOf(schema: string, places: readonly ('live' | 'finished')[]): Statement {
  const selects = places.map((place) => {
    const [table, fields] = place === 'live' ? ['runs', liveFields('t')] : ['history', finishedFields('t')]
    return `(
  select ${fields} from ${schema}.${table} t
  where ($1::text is null or t.workspace = $1::text) and ($2::uuid is null or t.schedule_id = $2::uuid)
    and ($3::text is null or t.job = $3::text) and ($4::text is null or t.queue = $4::text)
    and ($5::text is null or t.state = any($5::text::text[]))
    and ($6::float8 is null or (t.created_at, t.id) < (${instantAt('$6::float8')}, $7::uuid))
  order by t.created_at desc, t.id desc
  limit $8::int
)`
  })
  if (selects.length === 1) return unprepared(selects[0]!)
  return unprepared(`${selects.join('\nunion all\n')}\norder by created_at desc, id desc\nlimit $8::int`)
}

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
