/** Converts feed entries to events: type, data, and who may receive them. Pure. */
import type { FeedEntry } from '../../store/contract/feed.ts'
import { mayDo, type Principal, sees } from '../principal.ts'

export interface LiveEvent {
  /** The event id to resume from; null for events that are not replayed. */
  readonly id: string | null
  readonly at: number
  /** Such as `run.failed`. */
  readonly type: string
  readonly workspace: string
  readonly scheduleId: string | null
  /** The serialized event, built once for all clients. */
  readonly text: string
}

export interface Wish {
  /** Such as `run.*` or `schedule.paused`; empty: all types. */
  readonly types: readonly string[]
  readonly scheduleId: string | null
}

const JOURNAL: Readonly<Record<string, string>> = {
  retry: 'run.retry',
  lost: 'run.lost',
  timed_out: 'run.timed_out',
  postponed: 'run.postponed',
  released: 'run.released',
  unknown_job: 'run.unknown_job',
  refused: 'run.refused',
  cancel_requested: 'run.cancel_requested',
  retried: 'run.retried',
  quarantined: 'schedule.quarantined',
}

/** A unique id that contains the instant to resume from. */
export const idOf = ({ at, kind, id }: FeedEntry): string => `${at}-${kind}-${id}`

export function eventOf(entry: FeedEntry): LiveEvent {
  const { at, workspace } = entry
  const id = idOf(entry)
  const [type, data, scheduleId] = told(entry)
  return { id, at, type, workspace, scheduleId, text: textOf({ id, type, data: { ...data, at: new Date(at) } }) }
}

/** One event in the SSE wire format; serialized JSON has no line breaks. */
export const textOf = ({ id, type, data }: { id: string | null; type: string; data: unknown }): string =>
  `${id === null ? '' : `id: ${id}\n`}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`

function told(entry: FeedEntry): [type: string, data: object, scheduleId: string | null] {
  const { workspace } = entry
  switch (entry.kind) {
    case 'run': {
      const { id, state, job, queue, schedule, attempt, startedAt, at, error } = entry
      const durationMs = startedAt === null ? null : at - startedAt
      const data = { run: id, workspace, job, queue, schedule, attempt, durationMs, error }
      return [`run.${state}`, data, schedule?.id ?? null]
    }
    case 'journal': {
      const { entry: kind, runId, scheduleId } = entry
      return [JOURNAL[kind] ?? `run.${kind}`, { run: runId, schedule: scheduleId, workspace }, scheduleId]
    }
    case 'revision': {
      const { change, scheduleId, key, revision, by } = entry
      return [`schedule.${change}`, { schedule: scheduleId, workspace, key, revision, by }, scheduleId]
    }
    case 'non_run': {
      const { state, scheduleId, reason, count } = entry
      return [`schedule.${state}`, { schedule: scheduleId, workspace, reason, count }, scheduleId]
    }
    case 'alert':
      return [`alert.${entry.state}`, { alert: entry.alertId, workspace }, null]
    case 'audit': {
      const { action, target, actor, seq, hash } = entry
      return [`audit.${action}`, { action, target, actor, workspace, seq, hash }, null]
    }
  }
}

export function hears(event: LiveEvent, principal: Principal, { types, scheduleId }: Wish): boolean {
  if (!sees(principal, event.workspace)) return false
  if (event.type.startsWith('audit.') && !mayDo(principal.scope, 'admin')) return false
  if (scheduleId !== null && event.scheduleId !== scheduleId) return false
  return types.length === 0 || types.some((type) => fits(event.type, type))
}

const fits = (type: string, wished: string): boolean =>
  wished.endsWith('*') ? type.startsWith(wished.slice(0, -1)) : type === wished

/** An id for a client that is up to date until an instant, even if it received no event. */
export const positionOf = (at: number): string => `${at}-now-`

export const resyncText = (at: number): string => textOf({ id: positionOf(at), type: 'resync', data: {} })

/** The instant to resume from after this id; null for an invalid id. */
export function instantOf(lastEventId: string): number | null {
  const at = /^(\d{1,15})-(?:run|journal|revision|non_run|alert|audit|now)-/.exec(lastEventId)?.[1]
  return at === undefined ? null : Number(at)
}
