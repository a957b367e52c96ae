/** The checklist behind a verdict about one occurrence: each question with its answer, from stored facts alone; the verdict is `why.ts`. */
import { segmentAt, timeZone } from '../schedule/time-zone.ts'
import { offsetText } from '../schedule/wall-text.ts'
import { elapsedText, instantText, nameOf, utcText, zonesOf } from './instant-text.ts'
import { meantBy, type WhyFacts } from './why-facts.ts'

export interface WhyCheck {
  readonly name: CheckName
  /** Whether it speaks for the run; null when it does not apply, or is only worth knowing. */
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

/** In the order in which an occurrence meets them; those that cannot apply are left out. */
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
  if (at <= sinceAt) return no(`its occurrences begin after ${utcText(sinceAt)}, when ${createdBy} made it`)
  return yes(`made by ${createdBy}, with occurrences after ${utcText(sinceAt)}`)
}

function occurrence({ schedule, timeline, at }: WhyFacts, slotAt: number | null): Answer {
  const say = (instant: number): string => instantText(instant, schedule.timing)
  if (slotAt === at) return yes(`${say(at)} is an occurrence`)
  const nextAt = timeline.nextAt(at)
  const near = [...(slotAt === null ? [] : [say(slotAt)]), ...(nextAt === null ? [] : [say(nextAt)])]
  return no(`${say(at)} is none${near.length === 0 ? '' : `; the nearest are ${near.join(' and ')}`}`)
}

function revision({ timeline }: WhyFacts, slotAt: number): Answer | null {
  const period = timeline.periodAt(slotAt)
  return (
    period &&
    yes(`by the definition of revision ${period.revision}, in force since ${utcText(period.at)} by ${period.by}`)
  )
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
  if (!why) return yes('nothing in the definition keeps it from running')
  return no(
    { before_start: 'before its start, ', excluded: 'excluded by ', dst_gap: 'left out by the clocks of ' }[
      why.reason
    ] + why.detail,
  )
}

function pause({ periods }: WhyFacts, slotAt: number): Answer {
  const found = periods.pauses.find(({ fromAt, toAt }) => fromAt <= slotAt && (toAt === null || slotAt < toAt))
  if (!found) return yes('not paused at that time')
  const { by, reason, fromAt, toAt } = found
  const end = toAt === null ? 'still is' : `until ${utcText(toAt)}`
  return no(`paused by ${by}${reason === '' ? '' : ` (${reason})`} since ${utcText(fromAt)}, ${end}`)
}

function planned({ run, deleted, schedule, now }: WhyFacts, slotAt: number): Answer {
  if (run) {
    const jitter = run.scheduledAt !== null && run.fence === 0 ? run.dueAt - run.scheduledAt : 0
    const late = jitter > 0 ? `, due ${elapsedText(jitter)} later by jitter` : ''
    return yes(`planned at ${utcText(run.createdAt)} as ${nameOf(run)}${late}`)
  }
  if (deleted) return yes(`planned as ${nameOf(deleted)}, which ${deleted.by} deleted at ${utcText(deleted.at)}`)
  if (slotAt <= schedule.watermarkAt) return note('planning has passed it, and there is no run of it')
  return slotAt > now ? note('still to come') : no(`planning has come as far as ${utcText(schedule.watermarkAt)}`)
}

function record({ nonRun }: WhyFacts): Answer | null {
  if (!nonRun) return null
  const { state, reason, detail, fromAt, toAt, count, recordedAt } = nonRun
  const span = count === 1 ? '' : `, with ${count} from ${utcText(fromAt)} to ${utcText(toAt)}`
  return no(`on record as ${state}: ${reason}${detail === '' ? '' : ` (${detail})`}${span}, at ${utcText(recordedAt)}`)
}

function group({ run, nonRun, before, schedule }: WhyFacts): Answer | null {
  const behind = before ? `${nameOf(before)}, ${before.state}` : 'others'
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
    ? no(`nobody who is alive serves queue "${run.queue}"`)
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
  run && { ok: run.state === 'succeeded' ? true : null, text: `run afterwards by ${nameOf(run)}, ${run.state}` }
