/** The run state machine as one table, which SQL guards, docs and tests read. */

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

/** States of runs in the table of live runs. */
export type LiveState = 'pending' | 'running'
/** Final states of a run; it then is in the history, and only an operator can retry a failed one. */
export type FinalState = 'succeeded' | 'failed' | 'cancelled'
/** Final states of an occurrence that did not become a run. */
export type NonRunState = 'skipped' | 'missed'

export const RUN_STATES = Object.keys(TRANSITIONS) as RunState[]

export function mayMove(from: RunState, to: RunState): boolean {
  return (TRANSITIONS[from] as readonly string[]).includes(to)
}
