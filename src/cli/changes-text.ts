/** Formats changes of schedules, planned or made: what is created, updated and removed. */
import { printable, rowsText, type View, width } from './print.ts'
import { scheduleText } from './schedule-name.ts'

export interface ShownChange {
  readonly action: 'create' | 'update' | 'take back' | 'orphan' | 'remove' | 'keep paused'
  readonly workspace: string
  readonly key: string
  /** Only the fields that differ. */
  readonly before?: Fields | null
  readonly after?: Fields | null
  /** Who paused it and why, if it stays paused. */
  readonly paused?: string | null
  readonly nextFireAt?: { readonly before: Instant; readonly after: Instant }
  /** An additional note. */
  readonly note?: string
}

type Fields = object
type Instant = string | Date | null

const SIGNS = { create: '+', update: '~', 'take back': '~', orphan: '-', remove: '-', 'keep paused': '=' } as const

/** Lines with a sign on a terminal; rows of action, schedule and text in a pipe. */
export function changesText(changes: readonly ShownChange[], view: View): string {
  const rows = changes.map((change) => [change.action, scheduleText(change), wordsOf(change)] as const)
  if (!view.terminal) return rowsText([], rows, view)
  const { green, yellow, red, dim } = view.colours
  const paint = { '+': green, '~': yellow, '-': red, '=': dim }
  const actions = Math.max(0, ...rows.map(([action]) => width(action)))
  const names = Math.max(0, ...rows.map(([, name]) => width(printable(name))))
  return rows
    .map(([action, name, words]) => {
      const sign = SIGNS[action]
      const shown = printable(name)
      const line = `${sign} ${action.padEnd(actions)}  ${shown}${' '.repeat(names - width(shown))}  ${printable(words)}`
      return `  ${paint[sign](line.trimEnd())}\n`
    })
    .join('')
}

function wordsOf({ action, before, after, paused, nextFireAt, note }: ShownChange): string {
  const parts: string[] = []
  if (action === 'create' && after) parts.push(inShort(after as Record<string, unknown>))
  else if (action !== 'remove' && after) parts.push(differences({ ...before }, { ...after }))
  const fires = nextFireAt && firesText(nextFireAt, action)
  if (fires) parts.push(fires)
  if (note !== undefined) parts.push(note)
  if (paused) parts.push(`(${paused}: stays paused)`)
  return parts.filter((part) => part !== '').join('   ')
}

/** The timing and the job of a new schedule. */
function inShort({ cron, timezone, every, at, any, job }: Record<string, unknown>): string {
  const rule =
    cron !== undefined
      ? `${cron}${timezone === undefined || timezone === 'UTC' ? '' : ` ${timezone}`}`
      : every !== undefined
        ? `every ${every}`
        : at !== undefined
          ? `at ${valueText(at)}`
          : `${(any as readonly unknown[] | undefined)?.length ?? 0} rules`
  return `${rule} → ${job}`
}

function differences(before: Record<string, unknown>, after: Record<string, unknown>): string {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return fields.map((field) => `${field} ${valueText(before[field])} → ${valueText(after[field])}`).join(', ')
}

function valueText(value: unknown): string {
  if (value === undefined || value === null || value === '') return 'none'
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function firesText({ before, after }: { before: Instant; after: Instant }, action: string): string {
  const [old, next] = [iso(before), iso(after)]
  if (action === 'create') return next === null ? '' : `next fire ${next}`
  return old === next ? '' : `next fire ${old ?? 'never'} → ${next ?? 'never'}`
}

/** Formats values the same for a server and for this process. */
const iso = (at: Instant): string | null => (at === null ? null : new Date(at).toISOString().replace('.000Z', 'Z'))
