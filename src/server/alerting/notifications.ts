/** Stores notifications as documents: created from the untold events of an alert, with ids that make creation idempotent, and queued per channel and workspace. */
import type { Json } from '../../json.ts'
import { type Alert, eventOf } from '../../observe/alert.ts'
import type { AlertRule } from '../../observe/alert-rule.ts'
import type { Document, DocumentStore } from '../../store/contract/documents.ts'
import { moveAlert } from './alerts.ts'
import { type Channel, hears } from './channel.ts'
import { type Message, toAlertSummary } from './message.ts'

export type NotificationState = 'pending' | 'sent' | 'failed'

export interface Notification {
  readonly channelId: string
  readonly message: Message
  readonly attempts: number
  /** Earliest next attempt; while a process sends it, the end of that process's claim. */
  readonly nextAt: number
  /** The digest it was first sent in; retries use the same digest. */
  readonly digest: string | null
  readonly error: string | null
}

export interface StoredNotification extends Pick<Document, 'id' | 'workspace' | 'version' | 'createdAt'> {
  readonly notification: Notification
}

/** The pending notifications of one channel about one workspace. Each of these groups is read separately, so that a backlog in one does not hide another. */
export interface Outbox {
  readonly state: string
  readonly channelId: string
}

/** Longer than the retries last, so that the outcome stays visible. */
const RETENTION_MS = 8 * 86_400_000
const PENDING = 'pending '
const MAX_OUTBOXES = 10_000
/** The most notifications of one group to read at once, newest first. */
const MAX_IN_OUTBOX = 200

export const notificationOf = ({ id, workspace, version, createdAt, data }: Document): StoredNotification => ({
  id,
  workspace,
  version,
  createdAt,
  notification: data as unknown as Notification,
})

export async function pendingOutboxes(documents: DocumentStore): Promise<Outbox[]> {
  const states = await documents.states('notification', { prefix: PENDING, limit: MAX_OUTBOXES })
  return states.map((state) => ({ state, channelId: state.slice(PENDING.length).split(' ', 1)[0]! }))
}

export async function pendingIn(documents: DocumentStore, { state }: Outbox): Promise<StoredNotification[]> {
  return (await documents.list('notification', { state, limit: MAX_IN_OUTBOX })).map(notificationOf)
}

export function writeNotification(
  documents: DocumentStore,
  { id, workspace, version, notification }: Omit<StoredNotification, 'createdAt'>,
  state: NotificationState,
): Promise<Document | null> {
  const data = { ...notification } as unknown as Json
  const outbox = state === 'pending' ? `${PENDING}${notification.channelId} ${workspace}` : state
  return documents.put({ kind: 'notification', id, workspace, state: outbox, data, from: version, forMs: RETENTION_MS })
}

export interface NotificationContext {
  /** The channels of the alert's workspace and of the fleet. */
  readonly channels: readonly Channel[]
  /** The rule of the alert; undefined if it was removed. */
  readonly rule: AlertRule | undefined
  readonly now: number
}

/**
 * Creates a notification per untold event and channel, and only then removes the events from the alert. After a crash in between,
 * the next pass finds the existing notifications and creates the rest. Returns how many it created.
 */
export async function tell(documents: DocumentStore, alert: Alert, telling: NotificationContext): Promise<number> {
  if (alert.untold.length === 0) return 0
  const { channels, rule, now } = telling
  const listening = channels.filter(
    (channel) => hears(channel, alert.workspace) && (rule?.channels?.includes(channel.id) ?? true),
  )
  for (const untold of alert.untold) {
    for (const { id: channelId } of listening) {
      const id = `${alert.id}.${untold}.${channelId}`
      const message = { id, event: eventOf(untold), at: now, alert: toAlertSummary(alert) }
      const notification = { channelId, message, attempts: 0, nextAt: now, digest: null, error: null }
      // Null if the notification exists already.
      await writeNotification(documents, { id, workspace: alert.workspace, version: 0, notification }, 'pending')
    }
  }
  const told = new Set(alert.untold)
  await moveAlert(documents, alert.id, (now) => {
    const untold = now.untold.filter((event) => !told.has(event))
    return untold.length === now.untold.length ? null : { ...now, untold }
  })
  return told.size * listening.length
}
