/** `everytick runs ls` and `get`: runs with their state, and the journal of one run. */
import { systemClock } from '../../time/clock.ts'
import type { CommandContext } from '../command-context.ts'
import { detailsText } from '../details.ts'
import { type ErrorBody, errorLine, errorRows, firstLine } from '../error-text.ts'
import { findId } from '../find-id.ts'
import { RUNS } from '../kinds.ts'
import { fieldsText, includeOf, type ListOptions, limitOf, listed } from '../listing.ts'
import { jsonText, rowsText, type View } from '../print.ts'
import { shortIds } from '../short-id.ts'
import { shortCell, spanCell, timeCell } from '../time-cell.ts'
import { runQuery } from './ops-bulk.ts'

/** The fields of a run that these commands read. */
export interface RunBody {
  readonly kind: 'run'
  readonly id: string
  readonly state: string
  readonly job: string
  readonly workspace: string
  readonly schedule: { readonly key: string } | null
  readonly dueAt: string
  readonly startedAt: string | null
  readonly finishedAt: string | null
  readonly attempt: number
  readonly maxAttempts: number
  readonly error: ErrorBody | null
  readonly [field: string]: unknown
}

/** A range of skipped or missed occurrences. */
interface NonRunBody {
  readonly kind: 'non_run'
  readonly state: string
  readonly job: string
  readonly workspace: string
  readonly schedule: { readonly key: string }
  readonly reason: string
  readonly detail: string
  readonly count: number
  readonly to: string
}

const HEADING = ['ID', 'STATE', 'JOB', 'WORKSPACE', 'SCHEDULE', 'DUE', 'TOOK', 'TRY', 'ERROR']
const MAX_ERROR = 50

export async function listRuns(
  context: CommandContext,
  words: readonly string[],
  options: ListOptions,
): Promise<string> {
  const { backend, io, view } = context
  const query = { ...(await runQuery(context, words)), ...includeOf(options.json) }
  const waitForStop = { query, limit: limitOf(options) }
  const { items, hasMore } = await listed<RunBody | NonRunBody>(backend, '/runs', waitForStop)
  if (hasMore) io.note('there are more: use --limit or --all\n')
  if (options.json) return fieldsText(items, options.json)
  if (items.length === 0) {
    io.note('no matching runs\n')
    return ''
  }
  const now = systemClock.now()
  const idText = view.terminal ? shortIds(idsOf(items), { filtered: words.length > 0 }) : String
  const rows = items.map((each) =>
    each.kind === 'non_run' ? ['-', ...nonRunRow(each, now, view)] : [idText(each.id), ...runRow(each, now, view)],
  )
  return rowsText(HEADING, rows, view)
}

const idsOf = (items: readonly (RunBody | NonRunBody)[]): string[] =>
  items.flatMap((each) => (each.kind === 'run' ? [each.id] : []))

/** Without the id, whose length depends on the whole list. */
function runRow(run: RunBody, now: number, view: View): string[] {
  const { state, job, workspace, schedule, dueAt, startedAt, finishedAt, attempt, maxAttempts, error } = run
  return [
    ...[state, job, workspace === 'default' && view.terminal ? '-' : workspace, schedule?.key ?? '-'],
    timeCell(dueAt, now, view),
    spanCell(startedAt, finishedAt, now),
    `${attempt}/${maxAttempts}`,
    error === null ? '-' : shortCell(firstLine(error.message), MAX_ERROR, view),
  ]
}

/** In place of duration and attempt, a range shows its number of occurrences; in place of the error, its reason. */
function nonRunRow(range: NonRunBody, now: number, view: View): string[] {
  const { state, job, workspace, schedule, to, count, reason, detail } = range
  const why = detail === '' ? reason : `${reason}: ${detail}`
  return [
    ...[state, job, workspace === 'default' && view.terminal ? '-' : workspace, schedule.key],
    ...[timeCell(to, now, view), '-', `×${count}`, shortCell(why, MAX_ERROR, view)],
  ]
}

interface Entry {
  readonly at: string
  readonly kind: string
  readonly data: unknown
}

export async function getRun(
  { backend, view }: CommandContext,
  id: string,
  { json = false }: { readonly json?: boolean | string },
): Promise<string> {
  const path = `/runs/${await findId(backend, RUNS, id)}`
  const run = await backend.ask<RunBody>('GET', path)
  if (json) return fieldsText(run, json)
  const { items: data } = await listed<Entry>(backend, `${path}/attempts`, { limit: Number.POSITIVE_INFINITY })
  // In a pipe, print only the fields.
  const { error, ...fields } = run
  const details = detailsText(fields, view, error === null ? [] : errorRows(error))
  if (!view.terminal || data.length === 0) return details
  const rows = data.map(({ at, kind, data }) => [at, kind, entryText(data, error)])
  return `${details}\n${rowsText(['AT', 'WHAT', ''], rows, view)}`
}

/** Of an attempt's error only the message, and nothing if the run shows the same error; the JSON has the stack. */
function entryText(data: unknown, shown: ErrorBody | null): string {
  if (typeof data !== 'object' || data === null) return data === null ? '' : jsonText(data)
  const { error, ...rest } = data as { readonly error?: ErrorBody | null }
  const said = error && error.message !== shown?.message ? firstLine(errorLine(error)) : ''
  return [said, Object.keys(rest).length === 0 ? '' : jsonText(rest)].filter(Boolean).join('  ')
}
