/** Builds the checklist behind the verdict of `why` from stored facts; `why.ts` decides the verdict. */
import { segmentAt, timeZone } from '../schedule/time-zone.ts'
import { offsetText } from '../schedule/wall-text.ts'
import { elapsedText, instantText, nameOf, utcText, zonesOf } from './instant-text.ts'
import { meantBy, type WhyFacts } from './why-facts.ts'

export interface WhyCheck {
  readonly name: CheckName
  /** True when the check passed, false when it explains why there is no run, null when it is only information. */
  readonly ok: boolean | null
  readonly text: string
}

export type CheckName =
  | 'existed'
  | 'revision'
  | 'occurrence'
  | 'clock_change'
  | 'definition'
  | 'pause'
  | 'planned'
  | 'record'
  | 'group'
  | 'queue'
  | 'claimed'
  | 'attempts'
  | 'backfill'

type Answer = Omit<WhyCheck, 'name'>

/** In the order in which an occurrence passes them, without those that do not apply. */
export function checksOf(facts: WhyFacts): WhyCheck[] {
  const slotAt = meantBy(facts.timeline, facts.at)
  const early: [CheckName, Answer | null][] = [
    ['existed', existed(facts)],
    ['occurrence', occurrence(facts, slotAt)],
  ]
  const late: [CheckName, Answer | null][] =
    slotAt === null
      ? []
      : [
          ['revision', revision(facts, slotAt)],
          ['clock_change', clockChange(facts, slotAt)],
          ['definition', definition(facts, slotAt)],
          ['pause', pause(facts, slotAt)],
          ['planned', planned(facts, slotAt)],
          ['record', record(facts)],
          ['group', group(facts)],
          ['queue', queue(facts)],
          ['claimed', claimed(facts)],
          ['attempts', attempts(facts)],
          ['backfill', backfill(facts)],
        ]
  return [...early, ...late].flatMap(([name, answer]) => (answer ? [{ name, ...answer }] : []))
}

const yes = (text: string): Answer => ({ ok: true, text })
const no = (text: string): Answer => ({ ok: false, text })
const note = (text: string): Answer => ({ ok: null, text })

function existed({ schedule, at }: WhyFacts): Answer {
  const { sinceAt, createdBy } = schedule
  if (at <= sinceAt)
    return no(`${createdBy} created the schedule at ${utcText(sinceAt)}; its occurrences begin after that`)
  return yes(`created by ${createdBy}, with occurrences after ${utcText(sinceAt)}`)
}

function occurrence({ schedule, timeline, at }: WhyFacts, slotAt: number | null): Answer {
  const say = (instant: number): string => instantText(instant, schedule.timing)
  if (slotAt === at) return yes(`${say(at)} is an occurrence`)
  const nextAt = timeline.nextAt(at)
  const near = [...(slotAt === null ? [] : [say(slotAt)]), ...(nextAt === null ? [] : [say(nextAt)])]
  return no(`${say(at)} is not an occurrence${near.length === 0 ? '' : `; the nearest are ${near.join(' and ')}`}`)
}

function revision({ timeline }: WhyFacts, slotAt: number): Answer | null {
  const period = timeline.periodAt(slotAt)
  return period && yes(`defined by revision ${period.revision}, which ${period.by} saved at ${utcText(period.at)}`)
}

const NEAR_MS = 3 * 3_600_000

function clockChange({ timeline, nonRun }: WhyFacts, slotAt: number): Answer | null {
  const period = timeline.periodAt(slotAt)
  for (const name of period ? zonesOf(period.definition.timing) : []) {
    const zone = timeZone(name)
    const segment = segmentAt(zone, slotAt + NEAR_MS)
    const changedAt = zone.at[segment]!
    if (segment === 0 || changedAt <= slotAt - NEAR_MS) continue
    const [from, to] = [zone.offset[segment - 1]!, zone.offset[segment]!].map(offsetText)
    const text = `the clocks of ${name} changed from ${from} to ${to} at ${utcText(changedAt)}`
    return nonRun?.reason === 'dst_gap' ? no(text) : note(text)
  }
  return null
}

function definition({ timeline }: WhyFacts, slotAt: number): Answer | null {
  const period = timeline.periodAt(slotAt)
  if (!period) return null
  const why = timeline.slotsIn(period).whyNot(slotAt)
  if (!why) return yes('the definition does not skip it')
  return no(
    { before_start: 'before startAt, ', excluded: 'excluded by ', dst_gap: 'skipped by the clock change in ' }[
      why.reason
    ] + why.detail,
  )
}

function pause({ periods }: WhyFacts, slotAt: number): Answer {
  const found = periods.pauses.find(({ fromAt, toAt }) => fromAt <= slotAt && (toAt === null || slotAt < toAt))
  if (!found) return yes('not paused at that time')
  const { by, reason, fromAt, toAt } = found
  const end = toAt === null ? 'and still paused' : `until ${utcText(toAt)}`
  return no(`paused by ${by}${reason === '' ? '' : ` (${reason})`} since ${utcText(fromAt)}, ${end}`)
}

function planned({ run, deleted, schedule, now }: WhyFacts, slotAt: number): Answer {
  if (run) {
    const jitter = run.scheduledAt !== null && run.fence === 0 ? run.dueAt - run.scheduledAt : 0
    const late = jitter > 0 ? `, due ${elapsedText(jitter)} later by jitter` : ''
    return yes(`planned at ${utcText(run.createdAt)} as ${nameOf(run)}${late}`)
  }
  if (deleted) return yes(`planned as ${nameOf(deleted)}, which ${deleted.by} deleted at ${utcText(deleted.at)}`)
  if (slotAt <= schedule.watermarkAt) return note('the planner has passed it without creating a run')
  return slotAt > now ? note('in the future') : no(`the planner has reached ${utcText(schedule.watermarkAt)}`)
}

function record({ nonRun }: WhyFacts): Answer | null {
  if (!nonRun) return null
  const { state, reason, detail, fromAt, toAt, count, recordedAt } = nonRun
  const span = count === 1 ? '' : `, one of ${count} from ${utcText(fromAt)} to ${utcText(toAt)}`
  return no(`recorded as ${state}: ${reason}${detail === '' ? '' : ` (${detail})`}${span}, at ${utcText(recordedAt)}`)
}

function group({ run, nonRun, before, schedule }: WhyFacts): Answer | null {
  const behind = before ? `${nameOf(before)} (${before.state})` : 'another run of its concurrency group'
  if (nonRun?.reason === 'overlap') return no(`came due behind ${behind}; overlap is '${schedule.firing.overlap}'`)
  if (!run || run.group === null) return null
  if (run.state === 'pending' && run.readiness !== 'ready') return no(`waits behind ${behind}`)
  return yes('its concurrency group was free')
}

function queue({ run, queue: row, workers }: WhyFacts): Answer | null {
  if (run?.state !== 'pending') return null
  if (row?.pause) return no(`queue "${run.queue}" is paused by ${row.pause.by} since ${utcText(row.pause.at)}`)
  const serving = workers.filter((one) => one.roles.includes('worker') && run.queue in one.queues).length
  return serving === 0
    ? no(`no live worker serves queue "${run.queue}"`)
    : yes(`${serving} ${serving === 1 ? 'process serves' : 'processes serve'} queue "${run.queue}"`)
}

function claimed({ run, now }: WhyFacts): Answer | null {
  if (!run) return null
  if (run.startedAt === null)
    return run.state === 'pending' && run.dueAt <= now ? no('not claimed yet') : note('not claimed')
  const late = run.dueAt <= run.startedAt ? `, ${elapsedText(run.startedAt - run.dueAt)} after it was due` : ''
  return yes(`claimed by ${run.workerId ?? 'a worker'} at ${utcText(run.startedAt)}${late}`)
}

function attempts({ run, journal }: WhyFacts): Answer | null {
  if (!run || run.attempt === 0) return null
  const trouble = journal.map(({ kind, at }) => `${kind} at ${utcText(at)}`).join(', ')
  const text = `${run.attempt} of ${run.policy.retry.attempts}, ${run.state}${trouble === '' ? '' : `; ${trouble}`}`
  const end = run.finishedAt === null ? '' : `, ended at ${utcText(run.finishedAt)}`
  return { ok: run.state === 'succeeded' ? true : run.state === 'failed' ? false : null, text: text + end }
}

const backfill = ({ backfill: run }: WhyFacts): Answer | null =>
  run && { ok: run.state === 'succeeded' ? true : null, text: `backfilled by ${nameOf(run)}, ${run.state}` }
