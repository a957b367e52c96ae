/** Audits one schedule: reads its runs and records page by page; `plan/audit.ts` compares them with its occurrences. */
import { type Audited, auditing } from '../plan/audit.ts'
import { countingAhead } from '../plan/counted-ahead.ts'
import { type DefinitionPeriods, definitionPeriods, type Timeline, timelineOf } from '../plan/definition-periods.ts'
import type { Schedule } from '../schedule/schedule.ts'
import type { RecordedNonRun, SlotSpan } from '../store/contract/history.ts'
import type { Store } from '../store/contract/store.ts'
import { inSteps, yieldToEventLoop } from '../time/in-steps.ts'

export interface AuditSpan extends SlotSpan {
  /** Retention may have deleted revisions older than this. */
  readonly forgottenAt: number
}

/** Runs that are in memory at once. */
const PAGE = 1000
const MAX_SCANS = 5

/** `gone` when the schedule was removed meanwhile; `unreadable` when this version cannot read one of its timings. */
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
    // A watermark that advances does not change what is below it. One that goes back deleted runs.
    const moved = after.revision !== current.revision || after.watermarkAt < current.watermarkAt
    // Between two reads a concurrency group may skip a run, which turns it into a record. A real defect is there in a second scan too.
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
    // The last instant of a full page may have more runs than fit into the page.
    const lastAt = page.at(-1)!.scheduledAt
    const whole = page.filter(({ scheduledAt }) => scheduledAt < lastAt)
    await inSteps(one.add(whole))
    if (whole.length === 0) limit *= 2
    else afterAt = lastAt - 1
  }
  return inSteps(one.end())
}

const HOUR_MS = 3_600_000

/** A schedule with exclusions may have one record per second, so its records are read hour by hour. */
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
    // A record that begins before this hour was already read with the hour before.
    for (const record of hour) if (from === afterAt || record.fromAt > from) found.push(record)
    await yieldToEventLoop()
  }
  return found
}

/** Whether the schedule has reached `maxRuns`: it has no occurrences after that. */
export const isDone = ({ nextAt, runCount, firing }: Schedule): boolean =>
  nextAt === null && firing.maxRuns !== null && runCount >= firing.maxRuns

/**
 * The definition periods that this version can read, or null when it cannot read the current one: a row written by a newer
 * version, or with an unknown time zone. Periods before an unreadable one are left out.
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
