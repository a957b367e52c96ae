/** `everytick runs ls` and `get`: what ran, runs or waits, and what became of it. */
import { systemClock } from '../../time/clock.ts'
import { segment } from '../backend.ts'
import type { Desk } from '../desk.ts'
import { detailsText } from '../details.ts'
import { fieldsText, type ListOptions, limitOf, listed } from '../listing.ts'
import { jsonText, rowsText, type View } from '../print.ts'
import { shortCell, spanCell, timeCell } from '../time-cell.ts'
import { runQuery } from './ops-bulk.ts'

/** What these commands read of a run. */
export interface RunBody {
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
  readonly error: { readonly message: string } | null
  readonly [field: string]: unknown
}

const HEADING = ['ID', 'STATE', 'JOB', 'WORKSPACE', 'SCHEDULE', 'DUE', 'TOOK', 'TRY', 'ERROR']
const MAX_ERROR = 50

export async function listRuns(desk: Desk, words: readonly string[], options: ListOptions): Promise<string> {
  const { backend, io, view } = desk
  const asked = { query: await runQuery(desk, words), limit: limitOf(options) }
  const { items, hasMore } = await listed<RunBody>(backend, '/runs', asked)
  if (hasMore) io.note('there are more: --limit says how many, --all shows them all\n')
  if (options.json) return fieldsText(items, options.json)
  if (items.length === 0) {
    io.note('no run fits\n')
    return ''
  }
  const now = systemClock.now()
  const rows = items.map((each) => runRow(each, now, view))
  return rowsText(HEADING, rows, view)
}

function runRow(run: RunBody, now: number, view: View): string[] {
  const { id, state, job, workspace, schedule, dueAt, startedAt, finishedAt, attempt, maxAttempts, error } = run
  return [
    ...[id, state, job, workspace === 'default' && view.terminal ? '-' : workspace, schedule?.key ?? '-'],
    timeCell(dueAt, now, view),
    spanCell(startedAt, finishedAt, now),
    `${attempt}/${maxAttempts}`,
    error === null ? '-' : shortCell(error.message, MAX_ERROR, view),
  ]
}

interface Entry {
  readonly at: string
  readonly kind: string
  readonly data: unknown
}

export async function getRun(
  { backend, view }: Desk,
  id: string,
  { json = false }: { readonly json?: boolean | string },
): Promise<string> {
  const path = `/runs/${segment(id)}`
  const run = await backend.ask<RunBody>('GET', path)
  if (json) return fieldsText(run, json)
  const { data } = await backend.ask<{ data: readonly Entry[] }>('GET', `${path}/attempts`)
  // Into a pipe goes one thing only.
  if (!view.terminal || data.length === 0) return detailsText(run, view)
  const rows = data.map(({ at, kind, data }) => [at, kind, data === null ? '' : jsonText(data)])
  return `${detailsText(run, view)}\n${rowsText(['AT', 'WHAT', ''], rows, view)}`
}
