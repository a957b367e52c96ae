/** `app.audit`: whether every occurrence of every schedule is accounted for once, told in figures and by name; it repairs nothing. */
import { EverytickError, shown } from '../errors.ts'
import { checkKeys, type Instant, readInstantOption, readStoredName, refused } from '../options.ts'
import type { Audited, Offences } from '../plan/audit.ts'
import type { Schedule } from '../schedule/schedule.ts'
import { scheduleName } from '../schedule-definition.ts'
import type { Store } from '../store/contract/store.ts'
import { formatDuration } from '../time/duration.ts'
import { type AuditSpan, auditSchedule } from './audit-schedule.ts'
import type { Core } from './core.ts'

export interface AuditOptions {
  /** Occurrences after this; a day before `to` when absent. */
  readonly from?: Instant
  /** Occurrences up to this; now when absent. */
  readonly to?: Instant
  readonly workspace?: string
  /** The key of one schedule, in the given workspace or in `default`. */
  readonly schedule?: string
  readonly onProgress?: (progress: { readonly schedules: number }) => void
}

export interface NamedOccurrence {
  readonly workspace: string
  readonly key: string
  readonly at: Date
}

/** expected = runs + nonRuns + lostCount. Of what is amiss, the first hundred are named and all are counted. */
export interface AuditReport {
  /** Whether nothing is amiss. */
  readonly ok: boolean
  readonly from: Date
  readonly to: Date
  readonly schedules: number
  /** Occurrences that had to be accounted for. */
  readonly expected: number
  readonly runs: number
  /** Occurrences on record as skipped or missed. */
  readonly nonRuns: number
  /** Runs that made occurrences good later, beside those. */
  readonly backfills: number
  /** Occurrences that are not planned yet. */
  readonly pending: number
  /** Neither run nor record. */
  readonly lost: readonly NamedOccurrence[]
  readonly lostCount: number
  /** More than one of them. */
  readonly doubled: readonly NamedOccurrence[]
  readonly doubledCount: number
  /** Runs and records of what was no occurrence, and records that count wrongly. */
  readonly unexplained: readonly NamedOccurrence[]
  readonly unexplainedCount: number
  /** Schedules with a timing that this version cannot read, and so cannot judge. */
  readonly unreadable: readonly string[]
  /** What the figures cannot show, and `ok` does not count. */
  readonly notes: readonly AuditNote[]
}

/** After this failover of the database, writes that were acknowledged in the span may be missing, with all trace of them. */
export interface AuditNote {
  readonly kind: 'failover'
  readonly from: Date
  readonly to: Date
}

const KEYS = ['from', 'to', 'workspace', 'schedule', 'onProgress']
const DAY_MS = 86_400_000
/** Schedules that are read and looked at side by side: each may hold a payload as large as one may be. */
const ABREAST = 8
const NAMED = 100

export async function audit(core: Core, options: AuditOptions = {}): Promise<AuditReport> {
  checkKeys(options, KEYS, 'audit()')
  const { onProgress } = options
  if (onProgress !== undefined && typeof onProgress !== 'function') {
    throw refused(`onProgress is a function, not ${shown(onProgress)}`)
  }
  const store = await core.store()
  const span = readSpan(core, options, await store.now())
  const tally = new Map<keyof Figures, number>()
  const named = { lost: [], doubled: [], unexplained: [] } as Record<Kind, NamedOccurrence[]>
  const unreadable: string[] = []
  const count = (what: keyof Figures, by: number): unknown => tally.set(what, (tally.get(what) ?? 0) + by)

  const take = (schedule: Schedule, found: Audited): void => {
    for (const figure of ['expected', 'runs', 'nonRuns', 'backfills', 'pending'] as const) count(figure, found[figure])
    for (const kind of KINDS) {
      count(`${kind}Count`, found[kind].count)
      named[kind].push(...names(schedule, found[kind]).slice(0, NAMED - named[kind].length))
    }
  }

  for await (const page of pages(store, options)) {
    const found = await Promise.all(page.map((schedule) => auditSchedule(store, schedule, span)))
    for (const [at, schedule] of page.entries()) {
      const one = found[at]!
      if (one === 'gone') continue
      count('schedules', 1)
      if (one === 'unreadable') unreadable.push(scheduleName(schedule))
      else take(schedule, one)
    }
    onProgress?.({ schedules: tally.get('schedules') ?? 0 })
  }
  const figures = Object.fromEntries(FIGURES.map((figure) => [figure, tally.get(figure) ?? 0])) as unknown as Figures
  const amiss = figures.lostCount + figures.doubledCount + figures.unexplainedCount + unreadable.length
  const [from, to] = [new Date(span.afterAt), new Date(span.untilAt)]
  const notes = await failoverNotes(store, span)
  return { ok: amiss === 0, from, to, ...figures, ...named, unreadable, notes }
}

/** The newest are read; there are few. */
const FAILOVERS = 100

async function failoverNotes({ failovers }: Store, { afterAt, untilAt }: AuditSpan): Promise<AuditNote[]> {
  const overlapping = (await failovers.list(FAILOVERS)).filter(
    ({ mayHaveLost, from, to }) => mayHaveLost && from <= untilAt && to > afterAt,
  )
  return overlapping.map(({ from, to }) => ({ kind: 'failover', from: new Date(from), to: new Date(to) }))
}

type Kind = 'lost' | 'doubled' | 'unexplained'
const KINDS: readonly Kind[] = ['lost', 'doubled', 'unexplained']
const FIGURES = [
  ...['schedules', 'expected', 'runs', 'nonRuns', 'backfills', 'pending'],
  ...['lostCount', 'doubledCount', 'unexplainedCount'],
] as (keyof Figures)[]
type Figures = Pick<
  AuditReport,
  'schedules' | 'expected' | 'runs' | 'nonRuns' | 'backfills' | 'pending' | `${Kind}Count`
>

const names = ({ workspace, key }: Schedule, { first }: Offences): NamedOccurrence[] =>
  first.map((at) => ({ workspace, key, at: new Date(at) }))

/** A run may be cancelled this long before its instant, and the janitor may be at work while we read. */
const MARGIN_MS = 60_000

function readSpan({ settings }: Core, options: AuditOptions, now: number): AuditSpan {
  const { historyMs, journalMs } = settings.retention
  const retentionMs = Math.min(historyMs, journalMs)
  const oldestAt = now - retentionMs + Math.min(settings.lookaheadMs + MARGIN_MS, retentionMs / 2)
  const untilAt = options.to === undefined ? now : readInstantOption(options.to, 'to')
  const afterAt =
    options.from === undefined
      ? Math.max(untilAt - DAY_MS, Math.min(untilAt, oldestAt))
      : readInstantOption(options.from, 'from')
  if (afterAt > untilAt) throw refused('from is after to', 'give the earlier instant first')
  if (afterAt < oldestAt) {
    const [from, oldest] = [afterAt, oldestAt].map((at) => new Date(Math.ceil(at)).toISOString())
    throw refused(
      `from is ${from}, and what happened then may be forgotten: records are kept for ${formatDuration(retentionMs)}`,
      `audit from ${oldest} on, or keep more with retention.history and retention.journal`,
    )
  }
  return { afterAt, untilAt, forgottenAt: now - journalMs }
}

async function* pages(store: Store, options: AuditOptions): AsyncGenerator<Schedule[]> {
  const workspace = options.workspace === undefined ? undefined : readStoredName(options.workspace, 'workspace')
  if (options.schedule !== undefined) {
    const name = { workspace: workspace ?? 'default', key: readStoredName(options.schedule, 'schedule') }
    const found = await store.schedules.get(name.workspace, name.key)
    if (!found) throw new EverytickError('SCHEDULE_NOT_FOUND', `there is no ${scheduleName(name)}`)
    yield [found]
    return
  }
  for (let after: Schedule | undefined; ; ) {
    const page = await store.schedules.list({
      limit: ABREAST,
      ...(workspace === undefined ? {} : { workspace }),
      ...(after ? { after: { workspace: after.workspace, key: after.key } } : {}),
    })
    yield page
    after = page.at(-1)
    if (page.length < ABREAST) return
  }
}
