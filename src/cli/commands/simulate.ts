/** `everytick simulate`: simulates an unsaved schedule over a period, without a server or database. */
import { answer } from '../answer.ts'
import { type BackendOptions, openBackend, openEmptyBackend } from '../backend.ts'
import { utcText } from '../instant-text.ts'
import { closing, type Io } from '../io.ts'
import { printable, rowsText, type View } from '../print.ts'
import { readScheduleName } from '../schedule-name.ts'
import { drawTimeline, type Entry, MARKS, markOf, type Stretch } from '../simulated-timeline.ts'
import { readTimingInput, type TimingOptions } from '../timing-input.ts'
import { UsageError } from '../usage-error.ts'

export interface SimulateOptions extends TimingOptions, BackendOptions {
  readonly to?: string
  readonly overlap?: string
  readonly catchUp?: string
  readonly jitter?: string
  readonly outage?: readonly string[]
  readonly duration?: readonly string[]
  readonly all?: boolean
}

export interface Simulated {
  readonly from: string
  readonly to: string
  readonly truncated: boolean
  readonly outcomes: Readonly<Record<string, number>>
  readonly entries: readonly Entry[]
}

export async function simulate(words: readonly string[], options: SimulateOptions, io: Io): Promise<void> {
  // Parse here first, because only this process can show the position of a mistake.
  readTimingInput(words, options)
  const body = requestOf(words, options)
  // Needs no stored data, so it ignores EVERYTICK_URL and DATABASE_URL.
  const { url, db, config } = options
  const isAlone = url === undefined && db === undefined && config === undefined
  const backend = await (isAlone ? openEmptyBackend() : openBackend(options))
  const found = await closing(backend, () => backend.ask<Simulated>('POST', '/simulate', { body }))
  const columns = Math.max(20, Math.min(96, (io.around.columns || 80) - 10))
  const shown = { outages: body.outages, columns, all: options.all ?? false }
  await answer(found, { json: options.json ?? false, io }, (simulated, view) => simulatedText(simulated, shown, view))
}

interface Request extends Readonly<Record<string, unknown>> {
  readonly outages: readonly { readonly from: string; readonly to: string }[]
}

/** The body of `POST /simulate`. */
export function requestOf(words: readonly string[], options: SimulateOptions): Request {
  const { tz, gap, fold, seed, from, to, overlap, catchUp, jitter, outage = [], duration } = options
  const expression = words.join(' ').trim()
  const every = /^@every\s+(\S+)$/i.exec(expression)?.[1]
  const dst = { ...(gap && { gap }), ...(fold && { fold }) }
  const timing = every === undefined ? { cron: expression, ...(tz && { timezone: tz }), dst } : { every }
  const given = { from, to, overlap, catchUp, jitter, durations: duration }
  return {
    ...timing,
    ...(seed === undefined ? {} : readScheduleName(seed)),
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    outages: outage.map(readOutage),
  }
}

function readOutage(text: string): { readonly from: string; readonly to: string } {
  const [from, to, ...more] = text.split('/')
  if (from && to && more.length === 0) return { from, to }
  throw new UsageError(`--outage takes two instants separated by a slash, not ${text}`, {
    code: 'OPTION_INVALID',
    hint: 'such as 2027-01-04T09:00:00Z/2027-01-04T11:00:00Z',
  })
}

interface Shown {
  readonly outages: Request['outages']
  readonly columns: number
  readonly all: boolean
}

const LISTED = 20
const shortText = (at: string | null): string => (at === null ? '-' : utcText(Date.parse(at)))
const rowOf = ({ scheduledAt, outcome, startedAt, finishedAt, reason }: Entry): string[] => [
  ...[shortText(scheduledAt), outcome, shortText(startedAt), shortText(finishedAt), reason ?? '-'],
]

/** In a pipe, every occurrence; on a terminal, the timeline, the totals and the occurrences that did not run normally. */
export function simulatedText(simulated: Simulated, { outages, columns, all }: Shown, view: View): string {
  const { from, to, entries, outcomes, truncated } = simulated
  if (!view.terminal) return rowsText([], entries.map(rowOf), view)
  const { dim, yellow } = view.colours
  const stretch: Stretch = { fromAt: Date.parse(from), toAt: Date.parse(to) }
  const gone = outages.map((each) => ({ fromAt: Date.parse(each.from), toAt: Date.parse(each.to) }))
  const timeline = drawTimeline(entries, { ...stretch, outages: gone, columns })
  const ends = [from, to].map((at) => `${at.slice(0, 10)} ${at.slice(11, 16)}Z`)
  const sums = MARKS.filter(([outcome]) => outcomes[outcome]).map(
    ([outcome, mark, words]) => `${mark} ${outcomes[outcome]} ${words}`,
  )
  const lines = [
    `${dim('slots')}  ${timeline.slots}`,
    `${dim('work')}   ${timeline.work}`,
    `       ${dim(`${ends[0]}${' '.repeat(Math.max(2, columns - ends[0]!.length - ends[1]!.length))}${ends[1]}`)}`,
    `${sums.join('   ') || 'no occurrence'}${gone.length > 0 ? '   ░ no worker' : ''}`,
    ...(truncated ? [`${yellow('⚠')} too many occurrences: the simulation ends after 10,000`] : []),
  ]
  const odd = all ? entries : entries.filter(({ outcome }) => outcome !== 'ran')
  const listed = all ? odd : odd.slice(0, LISTED)
  const rows = listed.map((entry) => {
    const [scheduledAt, outcome, ...rest] = rowOf(entry)
    return [scheduledAt!, `${markOf(entry.outcome)} ${outcome}`, ...rest]
  })
  const table = rows.length === 0 ? '' : rowsText(['SCHEDULED', 'OUTCOME', 'STARTED', 'FINISHED', 'WHY'], rows, view)
  const more = odd.length > listed.length ? `  and ${odd.length - listed.length} more: --all lists every one\n` : ''
  return `${lines.map((line) => `  ${line.trimEnd()}\n`).join('')}${table}${printable(more.trimEnd())}${more && '\n'}`
}
