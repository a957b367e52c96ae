/** Sends what is pending: each at least once, again after a while when it failed, for a day; many at once as one digest. */
import type { Store } from '../../store/contract/store.ts'
import { type Channel, senderOf, type Voice } from './channel.ts'
import { grouped } from './grouped.ts'
import type { Delivery } from './message.ts'
import {
  allChannels,
  type Notification,
  type NotificationState,
  pendingNotifications,
  type StoredNotification,
  writeNotification,
} from './notifications.ts'
import { parcelsOf, retryAfterMs } from './parcels.ts'

/** Longer than a sending takes: until then nobody else sends the same. */
const SENDING_MS = 30_000
/** Channels that are spoken to at once, so that one that hangs does not keep the others waiting. */
const AT_ONCE = 20

export interface NotifierOptions {
  readonly store: Store
  readonly voice: Voice
  readonly random?: () => number
}

export interface Notifier {
  /** Safe to do twice, also at once. */
  pass(): Promise<void>
}

export function createNotifier({ store, voice, random = Math.random }: NotifierOptions): Notifier {
  const { documents } = store

  /** The right to send it, for a while; null when somebody else has it. */
  const take = async (each: StoredNotification, change: Partial<Notification>): Promise<StoredNotification | null> => {
    const notification = { ...each.notification, ...change }
    const taken = await writeNotification(documents, { ...each, notification }, 'pending')
    return taken && { ...each, notification, version: taken.version }
  }

  const settle = async (each: StoredNotification, delivery: Delivery, now: number): Promise<void> => {
    const { attempts } = each.notification
    const waitMs = delivery.ok ? 0 : retryAfterMs(attempts, { ageMs: now - each.createdAt, roll: random() })
    let state: NotificationState = 'sent'
    if (!delivery.ok) state = delivery.gone || waitMs === null ? 'failed' : 'pending'
    const error = delivery.ok ? null : delivery.error
    const notification = { ...each.notification, nextAt: now + (waitMs ?? 0), error }
    await writeNotification(documents, { ...each, notification }, state)
  }

  const speak = async (channel: Channel | undefined, waiting: readonly StoredNotification[]): Promise<void> => {
    for (const parcel of parcelsOf(waiting)) {
      const now = await store.now()
      const taken: StoredNotification[] = []
      for (const each of parcel.of) {
        const attempts = each.notification.attempts + 1
        const mine = await take(each, { attempts, nextAt: now + SENDING_MS, digest: parcel.digest })
        if (mine) taken.push(mine)
      }
      if (taken.length === 0) continue
      const messages = taken.map(({ notification }) => notification.message)
      const delivery: Delivery = channel?.enabled
        ? await senderOf(channel, voice)({ id: parcel.digest ?? messages[0]!.id, messages })
        : { ok: false, error: 'the channel is gone or switched off', gone: true }
      const endedAt = await store.now()
      for (const each of taken) await settle(each, delivery, endedAt)
      // What hangs or refuses now would do so for the next one too.
      if (!delivery.ok && !delivery.gone) return
    }
  }

  return {
    async pass() {
      const pending = await pendingNotifications(documents)
      if (pending.length === 0) return
      const now = await store.now()
      const due = pending.filter(({ notification }) => notification.nextAt <= now)
      const channels = new Map((await allChannels(documents)).map((channel) => [channel.id, channel]))
      const waiting = [...grouped(due, ({ notification }) => notification.channelId)]
      for (let at = 0; at < waiting.length; at += AT_ONCE) {
        const group = waiting.slice(at, at + AT_ONCE)
        const spoken = await Promise.allSettled(group.map(([id, those]) => speak(channels.get(id), those)))
        const failed = spoken.find((each) => each.status === 'rejected')
        if (failed) throw failed.reason
      }
    },
  }
}
