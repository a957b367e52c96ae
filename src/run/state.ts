/** The run state machine as one table; SQL guards, docs and tests read it, and nothing restates it. */

export const TRANSITIONS = {
  pending: ['running', 'skipped', 'cancelled', 'missed'],
  running: ['pending', 'succeeded', 'failed', 'cancelled'],
  succeeded: [],
  failed: ['pending'],
  cancelled: [],
  skipped: [],
  missed: [],
} as const satisfies Record<string, readonly string[]>

export type RunState = keyof typeof TRANSITIONS

/** States in which a run still stands in the hot table. */
export type LiveState = 'pending' | 'running'
/** States a run ends in; it then belongs to history, and only an operator brings a failed one back. */
export type FinalState = 'succeeded' | 'failed' | 'cancelled'
/** Ends of an occurrence that never became a run. */
export type NonRunState = 'skipped' | 'missed'

export const RUN_STATES = Object.keys(TRANSITIONS) as RunState[]

export function mayMove(from: RunState, to: RunState): boolean {
  return (TRANSITIONS[from] as readonly string[]).includes(to)
}
