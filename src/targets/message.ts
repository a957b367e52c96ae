/** Decides what a target is told of the run it is to execute, the same for every queue and endpoint; how it is sent is each target's matter. */
import type { JobContext } from '../engine/context.ts'
import { type Json, toJsonText } from '../json.ts'

export interface Message {
  /** The same for every attempt, so that whoever gets it twice can tell. */
  readonly run: string
  /** Null when the run was enqueued by hand. */
  readonly schedule: { readonly id: string; readonly key: string; readonly workspace: string } | null
  readonly scheduledAt: string | null
  readonly slot: { readonly start: string | null; readonly end: string } | null
  readonly attempt: number
  readonly fence: number
  readonly payload: Json
}

/** The payload is what the schema made of it, as JSON; null for a job without one. */
export function messageOf({ run, schedule, slot }: JobContext, payload: unknown): Message {
  return {
    run: run.id,
    schedule: schedule ? { id: schedule.id, key: schedule.key, workspace: schedule.workspace } : null,
    scheduledAt: run.scheduledAt?.toISOString() ?? null,
    slot: slot ? { start: slot.start?.toISOString() ?? null, end: slot.end.toISOString() } : null,
    attempt: run.attempt,
    fence: run.fence,
    payload: JSON.parse(toJsonText(payload, { what: 'the payload' })),
  }
}
