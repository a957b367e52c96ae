/** `app.audit`: checks that every occurrence of every schedule has exactly one run or record; it repairs nothing. */
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
  /** Audits occurrences after this; a day before `to` when absent. */
  readonly from?: Instant
  /** Audits occurrences up to this; now when absent. */
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

/** expected = runs + nonRuns + lostCount. The lists name the first hundred defects of each kind; the counts include all. */
export interface AuditReport {
  /** Whether the audit found no defect. */
  readonly ok: boolean
  readonly from: Date
  readonly to: Date
  readonly schedules: number
  /** Occurrences that need a run or a record. */
  readonly expected: number
  readonly runs: number
  /** Occurrences recorded as skipped or missed. */
  readonly nonRuns: number
  /** Backfill runs; they are extra. */
  readonly backfills: number
  /** Occurrences that the planner has not reached yet. */
  readonly pending: number
  /** Occurrences with neither a run nor a record. */
  readonly lost: readonly NamedOccurrence[]
  readonly lostCount: number
  /** Occurrences with more than one run or record. */
  readonly doubled: readonly NamedOccurrence[]
  readonly doubledCount: number
  /** Runs and records of instants that are not occurrences, and records with a wrong count. */
  readonly unexplained: readonly NamedOccurrence[]
  readonly unexplainedCount: number
  /** Schedules with a timing that this version cannot read, and therefore cannot audit. */
  readonly unreadable: readonly string[]
  /** Limits of the audit, such as a failover of the database; they do not affect `ok`. */
  readonly notes: readonly AuditNote[]
}

/** A failover of the database: writes acknowledged in the span may be missing without a trace. */
export interface AuditNote {
  readonly kind: 'failover'
  readonly from: Date
  readonly to: Date
}

const KEYS = ['from', 'to', 'workspace', 'schedule', 'onProgress']
const DAY_MS = 86_400_000
/** Schedules that are audited in parallel: few, because each may have a payload of the maximum size. */
const ABREAST = 8
const NAMED = 100

export async function audit(core: Core, options: AuditOptions = {}): Promise<AuditReport> {
  checkKeys(options, KEYS, 'audit()')
  const { onProgress } = options
  if (onProgress !== undefined && typeof onProgress !== 'function') {
    throw refused(`onProgress must be a function, not ${shown(onProgress)}`)
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

/** Only the newest are read; there are few. */
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

/** A run may be cancelled this long before its instant, and the janitor may delete rows while we read. */
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
  if (afterAt > untilAt) throw refused('from is later than to', 'swap from and to')
  if (afterAt < oldestAt) {
    const [from, oldest] = [afterAt, oldestAt].map((at) => new Date(Math.ceil(at)).toISOString())
    throw refused(
      `from is ${from}, and records that old may have been deleted: retention is ${formatDuration(retentionMs)}`,
      `set from to ${oldest} or later, or raise retention.history and retention.journal`,
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
