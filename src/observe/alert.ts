/** What an alert is, and how a person may move it: open, acknowledged, muted for a while, resolved; when the facts move it is `alert-decision.ts`. */
import type { RuleKind, Severity } from './alert-rule.ts'

export const ALERT_STATES = ['open', 'acknowledged', 'resolved'] as const
export type AlertState = (typeof ALERT_STATES)[number]

/** Numbers and names behind an alert, for people; never a payload. */
export type AlertValues = Readonly<Record<string, string | number | null>>

export interface NewAlert {
  readonly ruleId: string
  readonly kind: RuleKind
  readonly severity: Severity
  /** Whose it is; the empty text for what concerns the fleet. */
  readonly workspace: string
  /** What it is about, such as `schedule <id>`; there is one unresolved alert for a rule and a subject. */
  readonly subject: string
  readonly title: string
  readonly values: AlertValues
  readonly openedAt: number
  /** When the event happened that it is about; absent for what lasts. */
  readonly happenedAt?: number
}

export interface Alert extends NewAlert {
  readonly id: string
  readonly state: AlertState
  /** When its reason was last seen and written down. */
  readonly seenAt: number
  /** Since when its reason is gone; null while it is there. */
  readonly clearedAt: number | null
  readonly acknowledged: { readonly by: string; readonly at: number } | null
  readonly resolved: { readonly by: string; readonly at: number } | null
  /** Nobody is told of it until then. */
  readonly mutedUntil: number | null
  /** Events that have no notifications yet; kept with the change itself, so that a crash loses none. */
  readonly untold: readonly string[]
}

/** What a notification may be about. */
export type AlertEvent = 'opened' | 'unmuted' | 'resolved'

/** The name of an event within its alert; a mute may end several times. */
export const eventOf = (untold: string): AlertEvent => untold.split('@')[0] as AlertEvent

export interface Act {
  readonly by: string
  readonly at: number
}

export const opened = (alert: NewAlert, id: string): Alert => ({
  ...alert,
  id,
  state: 'open',
  seenAt: alert.openedAt,
  clearedAt: null,
  acknowledged: null,
  resolved: null,
  mutedUntil: null,
  untold: ['opened'],
})

export const isMuted = ({ mutedUntil }: Alert, now: number): boolean => mutedUntil !== null && mutedUntil > now

/** Null when it is not open: somebody was quicker, or it is over. */
export const acknowledged = (alert: Alert, act: Act): Alert | null =>
  alert.state === 'open' ? { ...alert, state: 'acknowledged', acknowledged: act } : null

/** Null when it is resolved. */
export const muted = (alert: Alert, until: number): Alert | null =>
  alert.state === 'resolved' ? null : { ...alert, mutedUntil: until }

/** Nobody is told: whoever lifts a mute by hand knows. Null when it is resolved, or not muted. */
export const unmuted = (alert: Alert): Alert | null =>
  alert.state === 'resolved' || alert.mutedUntil === null ? null : { ...alert, mutedUntil: null }

/** Null when it is resolved already. What was muted to the end is told to nobody. */
export function resolved(alert: Alert, act: Act): Alert | null {
  if (alert.state === 'resolved') return null
  const untold = isMuted(alert, act.at) ? alert.untold : [...alert.untold, 'resolved']
  return { ...alert, state: 'resolved', resolved: act, clearedAt: alert.clearedAt ?? act.at, untold }
}
