/** Mistakes to make in the rooms that decide without a store; each must be caught by the tables beside them. Applying them is `scripts/mutations.mjs`. */
export const MUTATIONS = [
  {
    kills: 'the cursor starts from now instead of from where it stood',
    file: 'src/plan/plan.ts',
    find: 'schedule.nextAt > schedule.watermarkAt ? schedule.nextAt',
    replace: 'schedule.nextAt > schedule.watermarkAt ? schedule.nextAt + 1',
  },
  {
    kills: 'the watermark moves back',
    file: 'src/plan/plan.ts',
    find: 'Math.max(schedule.watermarkAt, runs',
    replace: 'Math.max(0, runs',
  },
  {
    kills: 'the watermark forgets what was missed',
    file: 'src/plan/plan.ts',
    find: 'caught?.nonRuns.at(-1)?.toAt ?? 0',
    replace: '0',
  },
  {
    kills: 'the end of the lookahead is left out',
    file: 'src/plan/plan.ts',
    find: 'at <= window.untilAt',
    replace: 'at < window.untilAt',
  },
  {
    kills: 'one pass makes a run too many',
    file: 'src/plan/plan.ts',
    find: 'runs.length < window.maxRuns',
    replace: 'runs.length <= window.maxRuns',
  },
  {
    kills: 'the id of an occurrence depends on more than schedule and instant',
    file: 'src/plan/occurrence.ts',
    find: 'new Date(scheduledAt).toISOString()',
    replace: 'new Date(scheduledAt).toString()',
  },
  {
    kills: 'what is missed is counted one short',
    file: 'src/plan/catch-up.ts',
    find: 'count: timing.countAt(fromAt - 1, toAt)',
    replace: 'count: timing.countAt(fromAt, toAt)',
  },
  {
    kills: 'the edge of the catch-up window is missed',
    file: 'src/plan/catch-up.ts',
    find: 'now - policy.windowMs - 1',
    replace: 'now - policy.windowMs',
  },
  {
    kills: 'a run is tried once more than allowed',
    file: 'src/run/settle.ts',
    find: 'run.attempt >= retry.attempts',
    replace: 'run.attempt > retry.attempts',
  },
  {
    kills: 'a retry outlives the wish to cancel',
    file: 'src/run/settle.ts',
    find: "  if (run.cancelRequested) return { kind: 'final', state: 'cancelled' }\n  const",
    replace: '  const',
  },
  {
    kills: 'a postponed run costs an attempt',
    file: 'src/run/settle.ts',
    find: "reason: 'postponed', counts: false",
    replace: "reason: 'postponed', counts: true",
  },
  {
    kills: 'the backoff starts doubled',
    file: 'src/run/retry.ts',
    find: 'Math.min(attempt - 1, 40)',
    replace: 'Math.min(attempt, 40)',
  },
  {
    kills: 'a finished run may run again',
    file: 'src/run/state.ts',
    find: 'succeeded: []',
    replace: "succeeded: ['running']",
  },
  {
    kills: 'the end of a pause forgets what was passed over',
    file: 'src/plan/non-run.ts',
    find: 'timing.prevAt(untilAt + 1)',
    replace: 'timing.prevAt(untilAt)',
  },
  {
    kills: 'a NUL reaches the store',
    file: 'src/json.ts',
    find: '(?:0000|d[89a-f]',
    replace: '(?:0001|d[89a-f]',
  },
  {
    kills: 'half of a surrogate pair reaches the store',
    file: 'src/json.ts',
    find: '(?:0000|d[89a-f]',
    replace: '(?:0000|d[8-b]',
  },
]
