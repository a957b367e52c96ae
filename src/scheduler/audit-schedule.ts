/** Audits one schedule from what is stored, page by page; whether its occurrences are accounted for is decided by `plan/audit.ts`. */
import { type Audited, auditing } from '../plan/audit.ts'
import { countingAhead } from '../plan/counted-ahead.ts'
import { type DefinitionPeriods, definitionPeriods, type Timeline, timelineOf } from '../plan/definition-periods.ts'
import type { Schedule } from '../schedule/schedule.ts'
import type { RecordedNonRun, SlotSpan } from '../store/contract/history.ts'
import type { Store } from '../store/contract/store.ts'
import { inSteps, yieldToEventLoop } from '../time/in-steps.ts'

export interface AuditSpan extends SlotSpan {
  /** Revisions before this may have left the store. */
  readonly forgottenAt: number
}

/** Runs that are held in memory at once. */
const PAGE = 1000
const MAX_SCANS = 5

/** `gone` when it was removed meanwhile; `unreadable` when this version cannot read one of its timings. */
export async function auditSchedule(
  store: Store,
  schedule: Schedule,
  span: AuditSpan,
): Promise<Audited | 'gone' | 'unreadable'> {
  let current = schedule
  let before = ''
  for (let looks = 1; ; looks++) {
    const found = await look(store, current, span)
    const after = await store.schedules.get(schedule.workspace, schedule.key)
    if (after?.id !== schedule.id) return 'gone'
    if (found === 'unreadable') return found
    // A watermark that moves on leaves what is below it as it was. One that goes back took runs with it.
    const moved = after.revision !== current.revision || after.watermarkAt < current.watermarkAt
    // A concurrency group that skips a run turns it into a record between two of our reads: what is really amiss is so a second time.
    const offences = JSON.stringify([found.lost, found.doubled, found.unexplained])
    const settled = !moved && (isClean(found) || offences === before)
    if (settled || looks === MAX_SCANS) return found
    before = moved ? '' : offences
    current = after
  }
}

export const isClean = ({ lost, doubled, unexplained }: Audited): boolean =>
  lost.count + doubled.count + unexplained.count === 0

async function look(store: Store, schedule: Schedule, span: AuditSpan): Promise<Audited | 'unreadable'> {
  await yieldToEventLoop()
  const { id, watermarkAt } = schedule
  const known = readable(definitionPeriods(schedule, await store.history.definitions(id), span.forgottenAt), schedule)
  if (!known) return 'unreadable'
  const { periods } = known
  const firstAt = Math.max(span.afterAt, periods.list[0]!.afterAt)
  const within = { afterAt: firstAt, untilAt: Math.max(firstAt, span.untilAt) }
  const nonRuns = await recordsOf(store, schedule, { ...within, periods })
  const reachesFrom = nonRuns.reduce((from, { fromAt }) => Math.min(from, fromAt - 1), within.afterAt)
  const timeline = await inSteps(countingAhead(known.timeline, { ...within, afterAt: reachesFrom }))
  const facts = { periods, timeline, nonRuns, span: within, watermarkAt, done: isDone(schedule) }
  const one = await inSteps(auditing(facts))
  const untilAt = Math.min(within.untilAt, watermarkAt)
  let { afterAt } = within
  let limit = PAGE
  while (afterAt < untilAt) {
    const page = await store.history.slots(id, { afterAt, untilAt }, limit)
    if (page.length < limit) {
      await inSteps(one.add(page))
      break
    }
    await yieldToEventLoop()
    // The last instant of a full page may have more runs than the page had room for.
    const lastAt = page.at(-1)!.scheduledAt
    const whole = page.filter(({ scheduledAt }) => scheduledAt < lastAt)
    await inSteps(one.add(whole))
    if (whole.length === 0) limit *= 2
    else afterAt = lastAt - 1
  }
  return inSteps(one.end())
}

const HOUR_MS = 3_600_000

/** A schedule that leaves something out may have a record of its own for every second, and they are read hour by hour. */
async function recordsOf(
  { history }: Store,
  { id }: Schedule,
  { afterAt, untilAt, periods }: SlotSpan & { readonly periods: DefinitionPeriods },
): Promise<RecordedNonRun[]> {
  const isPlain = periods.list.every(({ definition }) => definition.timing.exclude === undefined)
  if (isPlain || untilAt - afterAt <= HOUR_MS) return history.nonRuns(id, { afterAt, untilAt })
  const found: RecordedNonRun[] = []
  for (let from = afterAt; from < untilAt; from += HOUR_MS) {
    const hour = await history.nonRuns(id, { afterAt: from, untilAt: Math.min(untilAt, from + HOUR_MS) })
    // One that begins before the hour reached into the hour before, and is known.
    for (const record of hour) if (from === afterAt || record.fromAt > from) found.push(record)
    await yieldToEventLoop()
  }
  return found
}

/** Whether it has made all the runs it may: what comes later is no occurrence any more. */
export const isDone = ({ nextAt, runCount, firing }: Schedule): boolean =>
  nextAt === null && firing.maxRuns !== null && runCount >= firing.maxRuns

/**
 * The definition periods that can be judged, or null when the present one is not among them: a row written by a newer version, or with a
 * zone that is unknown here. An edit that put such a timing right ends it, and what came before stays unjudged.
 */
export function readable(
  periods: DefinitionPeriods,
  schedule: Schedule,
): { readonly periods: DefinitionPeriods; readonly timeline: Timeline } | null {
  const timeline = timelineOf(periods, schedule)
  const bad = periods.list.findLastIndex((period) => !canRead(() => timeline.slotsIn(period)))
  if (bad === -1) return { periods, timeline }
  if (bad === periods.list.length - 1) return null
  const known = { ...periods, list: periods.list.slice(bad + 1), complete: false }
  return { periods: known, timeline: timelineOf(known, schedule) }
}

function canRead(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch {
    return false
  }
}
