/** How often a loop looks though nobody told it to: often where a hint may never come, rarely where hints are heard. */
import type { WakeStore } from '../store/contract/wake.ts'

/** The poll is the truth: whatever a lost hint would have told is found so soon. */
export const POLL_MS = 1000
/** The same while this process hears what others say. */
export const QUIET_POLL_MS = 5000

/** Asked again each time, since a connection comes and goes. */
export type PollMs = () => number

export const pollOf =
  ({ hears }: WakeStore): PollMs =>
  () =>
    hears?.() ? QUIET_POLL_MS : POLL_MS
