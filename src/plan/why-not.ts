/** Explains from its record why an occurrence did not run; `why.ts` covers all other outcomes. */
import { elapsedText, nameOf } from './instant-text.ts'
import type { NonRun } from './non-run.ts'
import type { Fate, WhyFacts } from './why-facts.ts'

export const HINTS: Partial<Record<NonRun['reason'], string>> = {
  window: 'raise catchUpWindow',
  limit: 'raise catchUpLimit',
  policy: "set catchUp to 'all', or run it with a backfill",
  overlap: "set a timeout, or overlap 'queue_one'",
  dst_gap: "set dst.gap to 'shift'",
  max_runs: 'raise maxRuns',
}

export function fateOfNonRun({ before, schedule }: WhyFacts, nonRun: NonNullable<WhyFacts['nonRun']>): Fate {
  const { state, reason, detail, count } = nonRun
  const among = count === 1 ? '' : `, as one of ${count}`
  const sentence = `It was ${state}${among}: ${becauseOf(reason, { detail, before, schedule })}.`
  return { verdict: state, reason, sentence, hint: HINTS[reason] ?? null }
}

type Because = Pick<WhyFacts, 'before' | 'schedule'> & { readonly detail: string }

function becauseOf(reason: NonRun['reason'], { detail, before, schedule }: Because): string {
  switch (reason) {
    case 'window':
      return `no planner was running at that time, and it was older than the catch-up window of ${elapsedText(schedule.catchUp.windowMs)}`
    case 'limit':
      return `no planner was running at that time, and catch-up runs only the newest ${schedule.catchUp.limit}`
    case 'policy':
      return `no planner was running at that time, and catchUp '${schedule.catchUp.catchUp}' does not run it`
    case 'paused':
      return `the schedule was paused ${detail}`.trimEnd()
    case 'overlap': {
      if (!before) return `run ${detail} of its concurrency group was unfinished when it came due`
      const where = before.workerId === null ? '' : ` on ${before.workerId}`
      const worked = before.startedAt === null ? '' : `, started ${new Date(before.startedAt).toISOString()}${where},`
      return `${nameOf(before)}${worked} was unfinished when it came due, and overlap is '${schedule.firing.overlap}'`
    }
    case 'excluded':
      return `the schedule excludes it by ${detail}`
    case 'before_start':
      return `the schedule starts at ${detail}`
    case 'dst_gap':
      return `the clock change in ${detail} skipped that local time, and dst.gap is 'skip'`
    case 'max_runs':
      return 'the schedule had reached maxRuns'
    case 'edited':
      return 'an edit changed the timing before the run was due'
  }
}
