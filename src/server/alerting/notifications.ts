/** Notifications as documents: made from what an alert has untold, under ids that make a repetition none; sending them is `notifier.ts`. */
import type { Json } from '../../json.ts'
import { type Alert, eventOf } from '../../observe/alert.ts'
import type { AlertRule } from '../../observe/alert-rule.ts'
import type { Document, DocumentStore } from '../../store/contract/documents.ts'
import { moveAlert } from './alerts.ts'
import { type Channel, channelOf, hears } from './channel.ts'
import { type Message, toldAlert } from './message.ts'

export type NotificationState = 'pending' | 'sent' | 'failed'

export interface Notification {
  readonly channelId: string
  readonly message: Message
  readonly attempts: number
  /** Not before then; also the end of the right of whoever is sending it. */
  readonly nextAt: number
  /** The digest that it was first sent in, and goes on being sent in. */
  readonly digest: string | null
  readonly error: string | null
}

export interface StoredNotification extends Pick<Document, 'id' | 'workspace' | 'version' | 'createdAt'> {
  readonly notification: Notification
}

/** Longer than they are tried, so that people can see what became of them. */
const KEPT_FOR_MS = 8 * 86_400_000
const PAGE = 200
const MAX_CHANNELS = 1000
const MAX_PENDING = 2000

export const notificationOf = ({ id, workspace, version, createdAt, data }: Document): StoredNotification => ({
  id,
  workspace,
  version,
  createdAt,
  notification: data as unknown as Notification,
})

export async function allChannels(documents: DocumentStore): Promise<Channel[]> {
  return (await pages(documents, { kind: 'channel', max: MAX_CHANNELS })).map(channelOf)
}

export async function pendingNotifications(documents: DocumentStore): Promise<StoredNotification[]> {
  const found = await pages(documents, { kind: 'notification', state: 'pending', max: MAX_PENDING })
  return found.map(notificationOf)
}

async function pages(
  documents: DocumentStore,
  of: { readonly kind: 'channel' | 'notification'; readonly state?: NotificationState; readonly max: number },
): Promise<Document[]> {
  const found: Document[] = []
  for (let after: string | undefined; found.length < of.max; ) {
    const from = { ...(of.state === undefined ? {} : { state: of.state }), ...(after === undefined ? {} : { after }) }
    const page = await documents.list(of.kind, { limit: PAGE, ...from })
    found.push(...page)
    after = page.at(-1)?.id
    if (page.length < PAGE) break
  }
  return found
}

export function writeNotification(
  documents: DocumentStore,
  { id, workspace, version, notification }: Omit<StoredNotification, 'createdAt'>,
  state: NotificationState,
): Promise<Document | null> {
  const data = { ...notification } as unknown as Json
  return documents.put({ kind: 'notification', id, workspace, state, data, from: version, forMs: KEPT_FOR_MS })
}

export interface Telling {
  readonly channels: readonly Channel[]
  /** The rule of the alert; undefined when it is gone. */
  readonly rule: AlertRule | undefined
  readonly now: number
}

/**
 * Makes a notification of each untold event for each channel, and only then takes the events off the alert. Whoever dies in
 * between leaves them untold, and the next one finds the notifications that there are already.
 */
export async function tell(documents: DocumentStore, alert: Alert, telling: Telling): Promise<void> {
  if (alert.untold.length === 0) return
  const { channels, rule, now } = telling
  const listening = channels.filter(
    (channel) => hears(channel, alert.workspace) && (rule?.channels?.includes(channel.id) ?? true),
  )
  for (const untold of alert.untold) {
    for (const { id: channelId } of listening) {
      const id = `${alert.id}.${untold}.${channelId}`
      const message = { id, event: eventOf(untold), at: now, alert: toldAlert(alert) }
      const notification = { channelId, message, attempts: 0, nextAt: now, digest: null, error: null }
      // Null when there is one: it was made before.
      await writeNotification(documents, { id, workspace: alert.workspace, version: 0, notification }, 'pending')
    }
  }
  const told = new Set(alert.untold)
  await moveAlert(documents, alert.id, (now) => {
    const untold = now.untold.filter((event) => !told.has(event))
    return untold.length === now.untold.length ? null : { ...now, untold }
  })
}
