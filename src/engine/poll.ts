/** The poll interval of loops: short without hints from other processes, long while this process receives hints. */
import type { WakeStore } from '../store/contract/wake.ts'

/** Hints may be lost; polling finds the same work within this time. */
export const POLL_MS = 1000
/** The interval while this process receives hints. */
export const QUIET_POLL_MS = 5000

/** Evaluated each time, because the connection for hints may come and go. */
export type PollMs = () => number

export const pollOf =
  ({ hears }: WakeStore): PollMs =>
  () =>
    hears?.() ? QUIET_POLL_MS : POLL_MS
