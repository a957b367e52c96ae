/** Asks for a backfill: which occurrences of a past span it would run and which it would leave alone, refused before anything is written. */
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
  /** The first and the last instant; occurrences at either are meant too. */
  readonly from: Instant
  readonly to: Instant
  /** How many of its runs may be unfinished at once; 1 when absent. */
  readonly concurrency?: number
  /** Runs what ran already once more. */
  readonly force?: boolean
  /** Instead of the schedule's own. */
  readonly payload?: unknown
  /** Answers what would be done, and writes nothing. */
  readonly dryRun?: boolean
}

export interface BackfillAnswer {
  /** Null for a dry run. */
  readonly id: string | null
  /** Occurrences in the span. */
  readonly total: number
  readonly toRun: number
  /** Ran already, or must not run. */
  readonly kept: number
  /** The first hundred that run. */
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
  // What nobody has planned yet would otherwise be run afterwards now, and caught up with later.
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
  // Its runs are made bit by bit: so many at once, and each with the payload.
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
    throw refused(`${of} reaches into the future`, 'what is still to come is planned by the schedule itself')
  const slots = slotsOf(schedule.timing, seedOf(schedule))
  // Several rules are counted stretch by stretch, and no further than it matters.
  let total = slots.countAtLeast(fromAt - 1, toAt) > MAX_SLOTS ? Number.POSITIVE_INFINITY : 0
  for (let at = fromAt - 1; at < toAt && total <= MAX_SLOTS; yield) {
    const untilAt = slots.countableUntil(at, toAt)
    total += slots.countAt(at, untilAt)
    at = untilAt
  }
  if (total <= MAX_SLOTS) return
  throw refused(`${of} has more than ${MAX_SLOTS} occurrences`, 'make it in several spans')
}

/** The nominal instants that have a run, live or finished, whatever made it. */
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
    // A page that ends within an instant is followed by one that begins after it: one run of it was seen.
    from = last.scheduledAt
  }
}
