/** The content of notifications: one alert, or a digest of several. Each channel formats and delivers it. */
import type { Alert, AlertEvent } from '../../observe/alert.ts'
import { printable } from '../../printable.ts'

/** The part of an alert that is sent, as it was at the event. */
export type AlertSummary = Pick<
  Alert,
  'id' | 'ruleId' | 'kind' | 'severity' | 'workspace' | 'subject' | 'title' | 'values' | 'state' | 'openedAt'
>

export interface Message {
  /** Stable across retries, so that receivers can deduplicate. */
  readonly id: string
  readonly event: AlertEvent | 'test'
  readonly at: number
  readonly alert: AlertSummary
}

/** One message, or a digest of several with its own id. */
export interface Outgoing {
  readonly id: string
  readonly messages: readonly Message[]
}

/** The result of a delivery: `gone` if a retry is useless. */
export type Delivery = { readonly ok: true } | { readonly ok: false; readonly error: string; readonly gone?: boolean }

export type Send = (outgoing: Outgoing) => Promise<Delivery>

export function toAlertSummary(alert: Alert): AlertSummary {
  const { id, ruleId, kind, severity, workspace, subject, title, values, state, openedAt } = alert
  return { id, ruleId, kind, severity, workspace, subject, title, values, state, openedAt }
}

const EVENTS: Readonly<Record<Message['event'], string>> = {
  opened: 'open',
  unmuted: 'still open',
  resolved: 'resolved',
  test: 'test',
}
/** The most lines of a digest; the rest is counted. */
const MAX_LINES = 30

export const headline = ({ event, alert }: Message): string =>
  printable(`[${alert.severity}] ${EVENTS[event]}: ${alert.title}`)

export function subjectOf({ messages }: Outgoing): string {
  const [first] = messages
  return messages.length === 1 ? headline(first!) : `${messages.length} alerts, the first: ${headline(first!)}`
}

export function linesOf({ messages }: Outgoing): string[] {
  if (messages.length === 1) return [headline(messages[0]!), ...detailsOf(messages[0]!)]
  const lines = messages.slice(0, MAX_LINES).map(headline)
  const rest = messages.length - lines.length
  return [`${messages.length} alerts`, ...lines, ...(rest > 0 ? [`and ${rest} more`] : [])]
}

function detailsOf({ alert }: Message): string[] {
  const values = Object.entries(alert.values).filter(([, value]) => value !== null)
  return [
    ...values.map(([name, value]) => printable(`${name}: ${value}`)),
    `since: ${iso(alert.openedAt)}`,
    `alert: ${alert.id}`,
  ]
}

/** The JSON form for programs; instants are RFC 3339 text. */
export function bodyOf({ messages }: Outgoing, at: number): Readonly<Record<string, unknown>> {
  const [first] = messages
  if (messages.length === 1) {
    const { type, timestamp, ...data } = entryOf(first!)
    return { type, timestamp, data }
  }
  return { type: 'alert.digest', timestamp: iso(at), data: { notifications: messages.map(entryOf) } }
}

const entryOf = ({ id, event, at, alert }: Message) => ({
  type: `alert.${event}`,
  timestamp: iso(at),
  id,
  alert: { ...alert, openedAt: iso(alert.openedAt) },
})

const iso = (at: number): string => new Date(at).toISOString()
