/** The first lines of `dev`: jobs, schedules, database and addresses; pure. */
import type { SyncReport } from '../../scheduler/sync.ts'
import { distanceText } from '../instant-text.ts'
import { printable, type View, width } from '../print.ts'

export interface Head {
  readonly version: string
  /** The configuration file; null when there is none. */
  readonly file: string | null
  readonly jobsFile: string | null
  /** For display, without a password. */
  readonly store: string
  readonly isNew: boolean
  readonly openedMs: number
  readonly aheadMs: number
  readonly jobs: number
  /** Whether these are demo jobs, because the project has none yet. */
  readonly demo: boolean
  readonly schedules: number
  readonly synced: SyncReport | null
  readonly url: string
  readonly keys: boolean
}

const KEYS = 'd open · t trigger · n next fires · f fast-forward clock · q quit'
const COLUMN = 42

export function headText(head: Head, { colours: { bold, dim, yellow } }: View): string {
  const { file, jobsFile, store, demo, url } = head
  const opened = `${head.isNew ? 'new, ' : ''}${Math.max(1, Math.round(head.openedMs))} ms`
  const place = jobsFile === null ? '' : ` in ${printable(jobsFile)}`
  const from = demo ? 'none yet, running a demo job' : `${head.jobs}${place} (watching)`
  const lines = [
    `${bold(`everytick ${head.version}`)}  ${printable(file ?? 'no config')} → ${printable(store)} ${dim(`(${opened})`)}`,
    `${pair('jobs', from)}schedules  ${schedulesText(head)}`,
    `${pair('overview', url)}api  /api/v1   docs  /api/docs`,
    head.keys ? `keys       ${KEYS}` : dim('Ctrl-C stops.'),
  ]
  if (demo)
    lines.push(dim('run everytick init to create a small project; dev loads jobs.ts in this folder once it exists'))
  if (head.aheadMs > 0) lines.push(yellow(`clock      ${distanceText(head.aheadMs)} ahead of real time`))
  return lines.map((line) => `  ${line}\n`).join('')
}

const pair = (name: string, text: string): string => {
  const both = `${name.padEnd(11)}${text}`
  return `${both}${' '.repeat(Math.max(2, COLUMN - width(both)))}`
}

function schedulesText({ schedules, synced }: Head): string {
  if (!synced) return `${schedules} in code`
  const { created, changed, orphaned, removed } = synced
  const said = [
    [created, 'created'],
    [changed, 'changed'],
    [orphaned.length, 'paused: no longer in code'],
    [removed.length, 'removed'],
  ] as const
  const text = said.flatMap(([count, word]) => (count > 0 ? `${count} ${word}` : [])).join(', ')
  return `${schedules} in code → ${text || 'unchanged'}`
}

/** One line after a reload. */
export function reloadedText(head: Head, { colours: { dim } }: View): string {
  return `  ${dim('reloaded')}   ${head.jobs} jobs, schedules ${schedulesText(head)}\n`
}
