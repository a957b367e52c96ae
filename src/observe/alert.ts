/** Alerts and their manual state transitions: acknowledge, mute, unmute, resolve. `alert-decision.ts` has the automatic ones. */
import type { RuleKind, Severity } from './alert-rule.ts'

export const ALERT_STATES = ['open', 'acknowledged', 'resolved'] as const
export type AlertState = (typeof ALERT_STATES)[number]

/** Numbers and names that explain an alert; never a payload. */
export type AlertValues = Readonly<Record<string, string | number | null>>

export interface NewAlert {
  readonly ruleId: string
  readonly kind: RuleKind
  readonly severity: Severity
  /** The workspace; the empty text for alerts about the fleet. */
  readonly workspace: string
  /** The subject, such as `schedule <id>`; a rule has at most one unresolved alert per subject. */
  readonly subject: string
  readonly title: string
  readonly values: AlertValues
  readonly openedAt: number
  /** When the event happened; absent for lasting conditions. */
  readonly happenedAt?: number
}

export interface Alert extends NewAlert {
  readonly id: string
  readonly state: AlertState
  /** When its condition was last observed and stored. */
  readonly seenAt: number
  /** Since when its condition is clear; null while it holds. */
  readonly clearedAt: number | null
  readonly acknowledged: { readonly by: string; readonly at: number } | null
  readonly resolved: { readonly by: string; readonly at: number } | null
  /** No notifications are sent until then. */
  readonly mutedUntil: number | null
  /** Events without notifications yet; stored with the change itself, so that a crash loses none. */
  readonly untold: readonly string[]
}

/** The events that cause notifications. */
export type AlertEvent = 'opened' | 'unmuted' | 'resolved'

/** The unique name of an event within its alert; a mute may end several times. */
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

/** Null if the alert is not open: it was acknowledged already, or is resolved. */
export const acknowledged = (alert: Alert, act: Act): Alert | null =>
  alert.state === 'open' ? { ...alert, state: 'acknowledged', acknowledged: act } : null

/** Null if the alert is resolved. */
export const muted = (alert: Alert, until: number): Alert | null =>
  alert.state === 'resolved' ? null : { ...alert, mutedUntil: until }

/** Sends no notification, because the person who unmutes knows. Null if the alert is resolved or not muted. */
export const unmuted = (alert: Alert): Alert | null =>
  alert.state === 'resolved' || alert.mutedUntil === null ? null : { ...alert, mutedUntil: null }

/** Null if the alert is resolved already. An alert that was muted to the end sends no notification. */
export function resolved(alert: Alert, act: Act): Alert | null {
  if (alert.state === 'resolved') return null
  const untold = isMuted(alert, act.at) ? alert.untold : [...alert.untold, 'resolved']
  return { ...alert, state: 'resolved', resolved: act, clearedAt: alert.clearedAt ?? act.at, untold }
}
