/** Sends pending notifications at least once, with retries for a day, and many at once as one digest. Owners of channels do not delay each other. */
import type { Store } from '../../store/contract/store.ts'
import { systemTimers, type Timers } from '../../time/timers.ts'
import { type Channel, channelOf, senderOf, type Voice } from './channel.ts'
import { groupIntoDigests, retryAfterMs } from './digests.ts'
import { grouped } from './grouped.ts'
import type { Delivery } from './message.ts'
import {
  type Notification,
  type NotificationState,
  type Outbox,
  pendingIn,
  pendingOutboxes,
  type StoredNotification,
  writeNotification,
} from './notifications.ts'
import { roundRobin } from './round-robin.ts'

/** The claim on a notification; longer than a delivery takes, so that no other process sends it. */
const SENDING_MS = 30_000
/** How long a pass waits for its channels; slower ones continue in the background. */
const WAIT_MS = 2000
/** After this time a slow channel gives its slot to another channel of its owner. */
const SLICE_MS = 20_000
/** How long to wait before reading a channel again that had nothing due. */
const BACKOFF_MS = 10_000
/** Concurrent deliveries: to channels of the fleet, of one workspace, and of all workspaces together. */
const AT_ONCE = { fleet: 20, workspace: 4, workspaces: 100 } as const

export interface NotifierOptions {
  readonly store: Store
  readonly voice: Voice
  readonly random?: () => number
  readonly timers?: Timers
  /** Reports errors that occur after the pass has ended. */
  readonly onError?: (error: unknown) => void
}

export interface Notifier {
  /** Idempotent, even concurrently. May return before slow channels have responded; the next pass skips those. */
  pass(): Promise<void>
}

interface Waiting {
  readonly id: string
  /** Undefined if the channel was removed. */
  readonly channel: Channel | undefined
  readonly owner: string
  readonly outboxes: readonly Outbox[]
}

export function createNotifier({
  store,
  voice,
  random = Math.random,
  timers = systemTimers,
  onError = () => {},
}: NotifierOptions): Notifier {
  const { documents } = store
  /** The channels with a delivery in flight, with their owners. */
  const speaking = new Map<string, string>()
  /** When to read a channel next, by the database clock; the map order is the order of turns. */
  const pausedUntil = new Map<string, number>()
  const served = new Map<string, number>()
  let turns = 0

  /** Claims a notification for a while; null if another process holds the claim. */
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
    const beganAt = voice.clock.elapsed()
    for (const digestOf of groupIntoDigests(waiting)) {
      const now = await store.now()
      const taken: StoredNotification[] = []
      for (const each of digestOf.of) {
        const attempts = each.notification.attempts + 1
        const mine = await take(each, { attempts, nextAt: now + SENDING_MS, digest: digestOf.digest })
        if (mine) taken.push(mine)
      }
      if (taken.length === 0) continue
      const messages = taken.map(({ notification }) => notification.message)
      const delivery: Delivery = channel?.enabled
        ? await senderOf(channel, voice)({ id: digestOf.digest ?? messages[0]!.id, messages })
        : { ok: false, error: 'the channel was removed or is disabled', gone: true }
      const endedAt = await store.now()
      for (const each of taken) await settle(each, delivery, endedAt)
      // If this delivery hangs or is refused, the next one would be too.
      if (!delivery.ok && !delivery.gone) return
      if (voice.clock.elapsed() - beganAt > SLICE_MS) return
    }
  }

  const waitingChannels = async (now: number): Promise<Waiting[]> => {
    const outboxes = grouped(await pendingOutboxes(documents), ({ channelId }) => channelId)
    for (const each of [pausedUntil, served]) for (const id of each.keys()) if (!outboxes.has(id)) each.delete(id)
    const found: Waiting[] = []
    for (const [id, those] of outboxes) {
      if (speaking.has(id) || (pausedUntil.get(id) ?? 0) > now) continue
      const document = await documents.get('channel', id)
      const channel = document ? channelOf(document) : undefined
      found.push({ id, channel, owner: channel?.workspace ?? `removed ${id}`, outboxes: those })
    }
    return found.sort((a, b) => (served.get(a.id) ?? 0) - (served.get(b.id) ?? 0))
  }

  const hasPlace = (owner: string): boolean => {
    const owners = [...speaking.values()]
    const own = owners.filter((each) => each === owner).length
    if (owner === '') return own < AT_ONCE.fleet
    return own < AT_ONCE.workspace && owners.filter((each) => each !== '').length < AT_ONCE.workspaces
  }

  const serve = async ({ id, channel, outboxes }: Waiting, now: number): Promise<void> => {
    const pending = (await Promise.all(outboxes.map((outbox) => pendingIn(documents, outbox)))).flat()
    const due = pending.filter(({ notification }) => notification.nextAt <= now)
    if (due.length > 0) return speak(channel, due)
    const next = Math.min(...pending.map(({ notification }) => notification.nextAt))
    pausedUntil.set(id, Math.min(next, now + BACKOFF_MS))
  }

  return {
    async pass() {
      const now = await store.now()
      const begun: Promise<void>[] = []
      let isOver = false
      for (const each of roundRobin(await waitingChannels(now), ({ owner }) => owner)) {
        if (!hasPlace(each.owner)) continue
        speaking.set(each.id, each.owner)
        served.set(each.id, ++turns)
        const spoken = serve(each, now).finally(() => speaking.delete(each.id))
        spoken.catch((error: unknown) => isOver && onError(error))
        begun.push(spoken)
      }
      if (begun.length === 0) return
      const all = Promise.allSettled(begun)
      const ended = await new Promise<PromiseSettledResult<void>[] | null>((resolve) => {
        const cancel = timers.set(WAIT_MS, () => resolve(null))
        void all.then((results) => {
          cancel()
          resolve(results)
        })
      })
      isOver = true
      const failed = ended?.find((each) => each.status === 'rejected')
      if (failed) throw failed.reason
    },
  }
}
