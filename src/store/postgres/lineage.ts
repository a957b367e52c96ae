/** Decides, purely, whether the server is the one last seen, and which acknowledged writes a failover puts in question; reading and recording is `failovers.ts`. */
import type { Failover, FailoverCause } from '../../observe/failover.ts'

/** Where a server is in its history. */
export interface LogState {
  /** The identifier of the cluster; null where the role may not read it. */
  readonly system: string | null
  /** Grows with every promotion of a standby. */
  readonly timeline: number
  /** Bytes of the write-ahead log that are on disk. */
  readonly position: number
  /** By the database's clock. */
  readonly at: number
  /** Whether a commit is acknowledged only when a standby has it. */
  readonly synchronous: boolean
}

/** What this process last read, with the last instant at which the server acknowledged something to it. */
export interface Memory extends LogState {
  readonly acknowledgedAt: number
}

export interface Observation {
  /** What this process saw before it asked; null when it had seen nothing. */
  readonly memory: Memory | null
  /** The note in the database, which travels with the data; null when there is none. */
  readonly stored: LogState | null
  readonly now: LogState
  /** The newest failover on record. */
  readonly recorded: Failover | null
}

export type LineageDecision =
  /** The server that was last seen, with all its data. */
  | { readonly kind: 'same' }
  /** A server that another one has replaced. */
  | { readonly kind: 'outdated' }
  /** To be recorded, in the place of the record of the same id if there is one. */
  | { readonly kind: 'failed_over'; readonly failover: Failover }
  /** Another process has recorded it, and nothing has to be added. */
  | { readonly kind: 'known'; readonly failover: Failover }

export function decideLineage({ memory, stored, now, recorded }: Observation): LineageDecision {
  if (memory && sameSystem(memory, now) && now.timeline < memory.timeline) return { kind: 'outdated' }
  // A note that never reached the new server leaves everything in question.
  const note = stored ?? (memory && { ...memory, at: 0, position: 0, synchronous: false })
  if (note) {
    const cause =
      causeOf(note, now) ?? (stored && memory && !causeOf(memory, now) && isBehind(stored, memory) && 'position')
    if (cause) return { kind: 'failed_over', failover: failoverOf(cause, { memory, note, now }) }
  }
  if (!memory || !causeOf(memory, now) || !recorded) return { kind: 'same' }
  const failover = extended(recorded, memory)
  return { kind: failover === recorded ? 'known' : 'failed_over', failover }
}

function causeOf(before: LogState, now: LogState): FailoverCause | null {
  if (!sameSystem(before, now)) return 'system'
  return before.timeline === now.timeline ? null : 'timeline'
}

const sameSystem = (one: LogState, other: LogState): boolean =>
  one.system === null || other.system === null || one.system === other.system

/** What the process saw is no longer there. A position is read before the note is committed, so a standby that has the note is not behind. */
const isBehind = (stored: { readonly position: number }, memory: Memory): boolean => stored.position < memory.position

/**
 * A write that was acknowledged before the note was taken stands before the note in the log, so the server that has the note
 * has the write too.
 */
function failoverOf(
  cause: FailoverCause,
  { memory, note, now }: { memory: Memory | null; note: LogState; now: LogState },
): Failover {
  const isComplete = cause === 'timeline' && note.synchronous && !(memory && isBehind(note, memory))
  return {
    id: new Date(now.at).toISOString(),
    cause,
    mayHaveLost: !isComplete,
    from: note.at,
    to: Math.max(now.at, note.at, memory?.acknowledgedAt ?? 0),
    before: { timeline: note.timeline, position: note.position },
    after: { timeline: now.timeline, position: now.position },
  }
}

/** Another process recorded it, which may have seen less than this one. */
function extended(recorded: Failover, memory: Memory): Failover {
  const mayHaveLost = recorded.mayHaveLost || isBehind(recorded.before, memory)
  const to = Math.max(recorded.to, memory.acknowledgedAt)
  return mayHaveLost === recorded.mayHaveLost && to === recorded.to ? recorded : { ...recorded, mayHaveLost, to }
}
