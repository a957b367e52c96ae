/** Carries hints: at once inside this process, and by NOTIFY to others; losing one costs a poll interval and nothing else. */
import { randomUUID } from 'node:crypto'
import { type Clock, systemClock } from '../../time/clock.ts'
import type { Hint, WakeStore } from '../contract/wake.ts'
import type { Connection } from './connection.ts'
import { type Listener, openListener } from './listen.ts'
import { type Ask, prepared, texts, unprepared } from './statement.ts'

/** A hint as a statement can say it. */
export interface Word {
  readonly channel: string
  readonly payload: string
}

export interface Wake extends WakeStore {
  /** After a commit of our own. */
  tell(hint: Hint): void
  /**
   * Lets a write of our own say this hint when it commits, and so spares whoever waits for it a round trip. Answers false
   * where it was not written: by its own answer, or because it was not asked, since such commits wait for each other until they are
   * on the disk. Only one at a time, therefore, and for a while none where one had to wait.
   */
  aboard(hint: Hint, write: (word: Word) => Promise<boolean>): Promise<boolean>
  /** Inside the caller's transaction: said when, and only if, it commits. */
  notifyWithin(ask: Ask, hint: Hint): Promise<void>
  close(): Promise<void>
}

export interface WakeOptions {
  readonly channel: string
  /** Whether to listen to others; without it there are only hints from this process. */
  readonly listen: boolean
  readonly clock?: Pick<Clock, 'elapsed'>
}

/** A NOTIFY makes commits wait for each other, so that a storm of small writes shares one: each waits twice as long as the one before. */
const FIRST_PAUSE_MS = 1
const PAUSE_MS = 5
/** A commit that tells and takes longer has waited for others; none does so then for so many times as long. */
const WAIT_LIMIT_MS = 5
const REST = 100
/** The server's limit is 8000 bytes. */
const MAX_BYTES = 7900

// A hint is not worth a flush to disk; the setting ends with this very statement's transaction.
const NOTIFY = prepared(
  `select set_config('synchronous_commit', 'off', true), pg_notify($1, payload) from unnest($2::text::text[]) payload`,
)
const NOTIFY_WITHIN = unprepared('select pg_notify($1, $2)')

export function createWake(connection: Connection, { channel, listen, clock = systemClock }: WakeOptions): Wake {
  const me = randomUUID()
  const listeners = new Set<(hint: Hint) => void>()
  let listener: Promise<Listener> | null = null
  let ears: Listener | null = null
  let opened = false
  const queues = new Set<string>()
  let schedules = false
  let cancels = false
  let sending: Promise<void> | null = null
  let pausedUntil = Number.NEGATIVE_INFINITY
  let closed = false

  const deliver = (hint: Hint): void => {
    for (const onHint of listeners) onHint(hint)
  }

  const payloadOf = (hint: Hint, from: string): string => {
    const payload = JSON.stringify({ from, hint })
    return Buffer.byteLength(payload) <= MAX_BYTES ? payload : JSON.stringify({ from, hint: { kind: 'all' } })
  }

  const send = async (): Promise<void> => {
    for (
      let pauseMs = FIRST_PAUSE_MS;
      queues.size > 0 || schedules || cancels;
      pauseMs = Math.min(PAUSE_MS, 2 * pauseMs)
    ) {
      const hints: Hint[] = []
      if (queues.size > 0) hints.push({ kind: 'runs', queues: [...queues] })
      if (schedules) hints.push({ kind: 'schedules' })
      if (cancels) hints.push({ kind: 'cancels' })
      queues.clear()
      schedules = false
      cancels = false
      // Whoever misses it polls.
      await connection.hot.ask(NOTIFY, [channel, texts(hints.map((hint) => payloadOf(hint, me)))]).catch(() => {})
      if (!closed) await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
    sending = null
  }

  const onMessage = (payload: string): void => {
    const message = readMessage(payload)
    // What this process said itself was delivered when it happened.
    if (message && message.from !== me) deliver(message.hint)
  }

  /** Before anybody was promised to hear, nothing was missed. */
  const onReturn = (): void => {
    if (opened) deliver({ kind: 'all' })
  }

  return {
    tell(hint) {
      deliver(hint)
      if (hint.kind === 'runs') for (const queue of hint.queues) queues.add(queue)
      else if (hint.kind === 'cancels') cancels = true
      else schedules = true
      sending ??= send()
    },
    async aboard(hint, write) {
      const at = clock.elapsed()
      if (sending || at < pausedUntil) return false
      pausedUntil = Number.POSITIVE_INFINITY
      try {
        const isWritten = await write({ channel, payload: payloadOf(hint, me) })
        if (isWritten) deliver(hint)
        return isWritten
      } finally {
        const tookMs = clock.elapsed() - at
        pausedUntil = at + tookMs + (tookMs > WAIT_LIMIT_MS ? REST * tookMs : PAUSE_MS)
      }
    },
    async notifyWithin(ask, hint) {
      await ask(NOTIFY_WITHIN, [channel, payloadOf(hint, '')])
    },
    async listen(onHint) {
      const entry = (hint: Hint): void => onHint(hint)
      listeners.add(entry)
      const dedicated = () => connection.dedicated()
      if (listen) ears = await (listener ??= openListener({ channel, dedicated, onMessage, onReturn }))
      opened = true
      return async () => {
        listeners.delete(entry)
      }
    },
    hears: () => ears?.listening ?? false,
    async close() {
      closed = true
      listeners.clear()
      await sending
      await (await listener)?.close()
    },
  }
}

interface Message {
  readonly from: string
  readonly hint: Hint
}

/** Null for somebody else's words on our channel. */
function readMessage(payload: string): Message | null {
  try {
    const message = JSON.parse(payload) as Partial<Message> | null
    return message?.hint?.kind ? (message as Message) : null
  } catch {
    return null
  }
}
