/** Starts a backfill: finds the occurrences of a past span that it runs and those it keeps, after checking everything. */
import { checkKeys, type Instant, readBoolean, readInstantOption, readInteger, refused } from '../options.ts'
import { accountUpTo } from '../plan/account.ts'
import { estimating } from '../plan/backfill.ts'
import { type Schedule, seedOf } from '../schedule/schedule.ts'
import { slotsOf } from '../schedule/slots.ts'
import { scheduleName } from '../schedule-definition.ts'
import type { Store } from '../store/contract/store.ts'
import { inSteps } from '../time/in-steps.ts'
import type { Steps } from '../time/steps.ts'
import { type By, readBy } from './actor.ts'
import type { Core } from './core.ts'
import { bytesOf } from './payload-bytes.ts'
import { settlePast } from './schedule-writing.ts'
import { payloadOf } from './trigger.ts'

export interface BackfillOptions extends By {
  /** The first and the last instant, both included. */
  readonly from: Instant
  readonly to: Instant
  /** The most runs of the backfill that are in flight at once; 1 when absent. */
  readonly concurrency?: number
  /** Also runs occurrences that already have a run. */
  readonly force?: boolean
  /** Replaces the payload of the schedule. */
  readonly payload?: unknown
  /** Returns what the backfill would do, and writes nothing. */
  readonly dryRun?: boolean
}

export interface BackfillAnswer {
  /** Null for a dry run. */
  readonly id: string | null
  /** Occurrences in the span. */
  readonly total: number
  readonly toRun: number
  /** Occurrences that ran already, or must not run. */
  readonly kept: number
  /** The first hundred occurrences to run. */
  readonly first: readonly Date[]
}

const KEYS = ['from', 'to', 'concurrency', 'force', 'payload', 'dryRun', 'by']
const MAX_SLOTS = 100_000
const PAGE = 1000

export async function startBackfill(
  core: Core,
  look: () => Promise<Schedule>,
  options: BackfillOptions,
): Promise<BackfillAnswer> {
  checkKeys(options, KEYS, 'backfill()')
  const by = readBy(core, options)
  const fromAt = readInstantOption(options.from, 'from')
  const toAt = readInstantOption(options.to, 'to')
  const concurrency = readInteger(options.concurrency ?? 1, 'concurrency', [1, 1000])
  const force = readBoolean(options.force ?? false, 'force')
  const dryRun = readBoolean(options.dryRun ?? false, 'dryRun')
  const store = await core.store()
  const schedule = await look()
  const now = await store.now()
  await inSteps(refusingSpan(schedule, { fromAt, toAt, now }))
  const payload = options.payload === undefined ? null : await payloadOf(core, schedule, options.payload)
  // Without this, the backfill would run occurrences that are not planned yet, and catch-up would run them a second time.
  const pending = dryRun ? (accountUpTo(schedule, now)?.runs ?? []) : []
  if (!dryRun) await settlePast(store, schedule, { now })
  const taken = await takenBy(store, schedule.id, { afterAt: fromAt - 1, untilAt: toAt })
  for (const { scheduledAt } of pending) taken.add(scheduledAt)
  const { first, ...numbers } = await inSteps(estimating(schedule, { fromAt, toAt, force }, taken))
  const answer = { ...numbers, first: first.map((at) => new Date(at)) }
  if (dryRun) return { id: null, ...answer }
  const id = core.newId()
  const { id: scheduleId, workspace, key } = schedule
  const span = { fromAt, toAt, concurrency, force, payload, total: numbers.total }
  const { toRun } = numbers
  const bytes = bytesOf(payload ?? schedule.payload)
  // A backfill creates its runs step by step: at most `concurrency` are pending, and each stores the payload.
  const draw = { workspace, pendingRuns: Math.min(toRun, concurrency), payloadBytesPerDay: toRun * bytes }
  await core.quotas.within(
    () => [draw],
    () => store.backfills.create({ id, scheduleId, workspace, key, by, ...span }),
  )
  return { id, ...answer }
}

function* refusingSpan(
  schedule: Schedule,
  { fromAt, toAt, now }: { fromAt: number; toAt: number; now: number },
): Steps<void> {
  const of = `a backfill of ${scheduleName(schedule)}`
  if (fromAt > toAt) throw refused(`${of} ends before it begins`, 'swap from and to')
  if (toAt > now)
    throw refused(
      `${of} reaches into the future`,
      'the schedule itself runs future occurrences; end the span at the present',
    )
  const slots = slotsOf(schedule.timing, seedOf(schedule))
  // Several rules are counted range by range, and only up to the limit.
  let total = slots.countAtLeast(fromAt - 1, toAt) > MAX_SLOTS ? Number.POSITIVE_INFINITY : 0
  for (let at = fromAt - 1; at < toAt && total <= MAX_SLOTS; yield) {
    const untilAt = slots.countableUntil(at, toAt)
    total += slots.countAt(at, untilAt)
    at = untilAt
  }
  if (total <= MAX_SLOTS) return
  throw refused(`${of} has more than ${MAX_SLOTS} occurrences`, 'split it into several backfills')
}

/** The nominal instants that have a run, live or finished, with any trigger. */
async function takenBy(
  store: Store,
  scheduleId: string,
  { afterAt, untilAt }: { readonly afterAt: number; readonly untilAt: number },
): Promise<Set<number>> {
  const taken = new Set<number>()
  for (let from = afterAt; ; ) {
    const page = await store.history.slots(scheduleId, { afterAt: from, untilAt }, PAGE)
    for (const { scheduledAt } of page) taken.add(scheduledAt)
    const last = page.at(-1)
    if (page.length < PAGE || !last) return taken
    // If a page ends between two runs of one instant, the next page begins after that instant: one run is enough.
    from = last.scheduledAt
  }
}
