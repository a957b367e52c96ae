/** Decides, without I/O, the outcome of one occurrence and explains it in one sentence; `scheduler/why.ts` gathers the facts, `why-checks.ts` builds the checklist. */
import type { Run } from '../run/run.ts'
import type { RunState } from '../run/state.ts'
import { elapsedText, instantText, nameOf } from './instant-text.ts'
import { type DeletedRun, type Fate, meantBy, type WhyFacts, type WhyVerdict } from './why-facts.ts'
import { fateOfNonRun, HINTS } from './why-not.ts'

export function fateOf(facts: WhyFacts): Fate {
  const { at, timeline } = facts
  const slotAt = meantBy(timeline, at)
  if (slotAt === at) return fateOfSlot(facts, at)
  const nextAt = timeline.nextAt(at)
  const say = (when: number): string => instantText(when, facts.schedule.timing)
  const past = slotAt === null ? 'there is none before it' : `the one before it is ${say(slotAt)}`
  const next = nextAt === null ? 'none comes after it' : `the next is ${say(nextAt)}`
  const then = slotAt === null ? '' : ` The one before: ${decapitalised(fateOfSlot(facts, slotAt).sentence)}`
  const sentence = `${instantText(at, facts.schedule.timing)} is not an occurrence: ${past}, and ${next}.${then}`
  return { verdict: 'not_due', reason: reasonNotDue(facts), sentence, hint: null }
}

function reasonNotDue({ schedule, periods, timeline, at }: WhyFacts): string | null {
  if (at <= schedule.sinceAt) return 'before_creation'
  if (at <= periods.list[0]!.afterAt) return 'forgotten'
  const endAt = timeline.periodAt(at)?.definition.timing.endAt
  return endAt !== undefined && at > endAt ? 'after_end' : null
}

function fateOfSlot(facts: WhyFacts, slotAt: number): Fate {
  const { run, deleted, nonRun, backfill } = facts
  const fate =
    run && !denied(run, nonRun)
      ? fateOfRun(facts, run)
      : deleted && !denied(deleted, nonRun)
        ? fateOfDeleted(deleted)
        : nonRun
          ? fateOfNonRun(facts, nonRun)
          : fateOfNothing(facts, slotAt)
  if (!backfill) return fate
  return { ...fate, sentence: `${fate.sentence} A backfill covers it: ${nameOf(backfill)} (${backfill.state}).` }
}

/** A run that was cancelled before it was due and then recorded as a non-run: the record is newer. */
const denied = ({ state, startedAt }: Pick<Run, 'state' | 'startedAt'>, nonRun: unknown): boolean =>
  nonRun !== null && state === 'cancelled' && startedAt === null

const ENDS: Partial<Record<RunState, readonly [WhyVerdict, words: string]>> = {
  succeeded: ['ran', 'It ran'],
  failed: ['failed', 'It failed'],
  cancelled: ['cancelled', 'It was cancelled'],
}

/** The outcome is all that is left of a deleted run. */
function fateOfDeleted(run: DeletedRun): Fate {
  const [verdict, words] = ENDS[run.state] ?? ['forgotten', 'It ended']
  const sentence = `${words}: ${nameOf(run)}, which ${run.by} deleted at ${new Date(run.at).toISOString()}.`
  return { verdict, reason: 'deleted', sentence, hint: null }
}

function fateOfRun(facts: WhyFacts, run: Run): Fate {
  const { now, journal } = facts
  const { state, startedAt, finishedAt, dueAt, workerId, attempt, error } = run
  const name = nameOf(run)
  const attempts = attempt === 1 ? 'the first attempt' : `attempt ${attempt}`
  const told = (verdict: WhyVerdict, sentence: string): Fate => ({ verdict, reason: null, sentence, hint: null })
  switch (state) {
    case 'succeeded': {
      const late = startedAt === null ? '' : `, started ${elapsedText(startedAt - dueAt)} after it was due`
      const caught = run.trigger === 'catch_up' ? 'It ran late, by catch-up' : 'It ran'
      return told('ran', `${caught}: ${name} succeeded at ${attempts}${late}.`)
    }
    case 'running': {
      const since = elapsedText(now - (startedAt ?? now))
      const where =
        workerId === null
          ? `${name} was handed over to an external system, which has not completed it; it started ${since} ago`
          : `${name} on ${workerId} for ${since}`
      return told('running', `It is running: ${where}, ${attempts}.`)
    }
    case 'failed': {
      const why = error ? `: ${error.message}` : ''
      const hint = journal.some(({ kind }) => kind === 'timed_out') ? 'set a longer timeout' : null
      const again = attempt === 1 ? '1 attempt' : `${attempt} attempts`
      return {
        verdict: 'failed',
        reason: error?.code ?? null,
        sentence: `It failed: ${name} gave up after ${again}${why}.`,
        hint,
      }
    }
    case 'cancelled': {
      const when = startedAt === null ? 'before it started' : `after it had started, ${attempts}`
      const at = finishedAt === null ? '' : ` at ${new Date(finishedAt).toISOString()}`
      return told('cancelled', `It was cancelled ${when}: ${name} ended${at}.`)
    }
    default:
      return fateOfWaiting(facts, run)
  }
}

function fateOfWaiting({ now, before, queue, workers, schedule }: WhyFacts, run: Run): Fate {
  const name = nameOf(run)
  const told = (reason: string, sentence: string, hint: string | null = null): Fate => ({
    ...{ verdict: 'waiting', reason, sentence, hint },
  })
  if (run.dueAt > now) {
    const dueText = new Date(run.dueAt).toISOString()
    if (run.fence > 0)
      return told('retry', `It waits for attempt ${run.attempt + 1}: ${name} is due again at ${dueText}.`)
    const jittered = run.scheduledAt !== null && run.dueAt > run.scheduledAt
    const fate = told(jittered ? 'jitter' : 'planned', `It is planned: ${name} is due at ${dueText}.`)
    return { ...fate, verdict: jittered && run.scheduledAt! <= now ? 'waiting' : 'future' }
  }
  if (run.readiness !== 'ready') {
    const whom = before ? `${nameOf(before)}, which is ${before.state}` : 'another run of its concurrency group'
    return told(
      'overlap',
      `It waits behind ${whom}: the runs of a concurrency group run one at a time.`,
      'set a timeout, or change overlap',
    )
  }
  if (queue?.pause) {
    const { by, reason } = queue.pause
    const words = reason === '' ? '' : ` (${reason})`
    return told(
      'queue_paused',
      `It waits: queue "${run.queue}" was paused by ${by}${words}.`,
      `resume queue "${run.queue}"`,
    )
  }
  if (!workers.some((one) => one.roles.includes('worker') && run.queue in one.queues)) {
    const hint = `start a worker that serves queue "${run.queue}"`
    return told('no_worker', `It waits: no live worker serves queue "${run.queue}".`, hint)
  }
  const since = elapsedText(now - run.dueAt)
  const hint = `raise the concurrency of queue "${schedule.queue}", or start another worker`
  return told('queued', `It has waited for a free worker of queue "${run.queue}" for ${since}: ${name}.`, hint)
}

function fateOfNothing({ schedule, periods, timeline, now, forgottenAt, workers }: WhyFacts, slotAt: number): Fate {
  const { pause, quarantine, watermarkAt, firing, runCount, nextAt } = schedule
  const told = (verdict: WhyVerdict, reason: string | null, sentence: string): Fate => ({
    verdict,
    reason,
    sentence,
    hint: null,
  })
  if (slotAt <= watermarkAt) {
    if (slotAt < Math.max(forgottenAt, periods.list[0]!.afterAt)) {
      return told('forgotten', null, 'It is older than the retention of records, so its outcome is unknown.')
    }
    return {
      ...told('lost', null, 'It has neither a run nor a record, which should not happen.'),
      hint: 'call app.audit() and report its result as a bug',
    }
  }
  if (firing.maxRuns !== null && runCount >= firing.maxRuns && nextAt === null) {
    return {
      ...told('skipped', 'max_runs', `It does not run: the schedule has created all ${firing.maxRuns} runs (maxRuns).`),
      hint: HINTS.max_runs!,
    }
  }
  const verdict = slotAt > now ? 'future' : 'not_planned_yet'
  const period = timeline.periodAt(slotAt)
  const why = period ? timeline.slotsIn(period).whyNot(slotAt) : null
  // The record is written when the whole range has passed; the definition gives the reason already.
  if (why) return told(verdict, why.reason, `It does not run: ${why.reason.replaceAll('_', ' ')} (${why.detail}).`)
  if (pause) {
    const words = pause.reason === '' ? '' : ` (${pause.reason})`
    const until = pause.until === null ? 'is resumed' : `resumes at ${new Date(pause.until).toISOString()}`
    const sentence = `The schedule is paused by ${pause.by}${words}: this occurrence is decided when it ${until}.`
    return { ...told(verdict, 'paused', sentence), hint: 'resume the schedule' }
  }
  if (quarantine) {
    const sentence = `The schedule is in quarantine because it cannot be planned: ${quarantine.message}.`
    return { ...told(verdict, 'quarantined', sentence), hint: 'change its definition, which lifts the quarantine' }
  }
  if (slotAt > now) return told('future', null, `It is in the future: due in ${elapsedText(slotAt - now)}.`)
  if (!workers.some(({ roles }) => roles.includes('scheduler'))) {
    const sentence = 'It is not planned yet: no live process plans schedules.'
    return { ...told(verdict, 'no_scheduler', sentence), hint: 'start an app with the role scheduler' }
  }
  return told(verdict, null, 'It is not planned yet: the planner has not reached it.')
}

const decapitalised = (sentence: string): string => sentence.charAt(0).toLowerCase() + sentence.slice(1)
