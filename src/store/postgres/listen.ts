/** Keeps one connection listening, through every loss of it; what a message means is decided by `wake.ts`. */
import type { Client } from './client.ts'

export interface Listener {
  /** Whether it listens, as far as it knows: a connection that died without a word is found out by the next check. */
  readonly listening: boolean
  close(): Promise<void>
}

export interface ListenOptions {
  readonly channel: string
  dedicated(): Promise<Client>
  onMessage(payload: string): void
  /** Listening again after a time of deafness, in which anything may have been said. */
  onReturn(): void
}

const FIRST_RETRY_MS = 100
const MAX_RETRY_MS = 5000
/** A connection can die without a word; so it is asked something now and then. */
const CHECK_MS = 15_000
const CHECK_TIMEOUT_MS = 5000

/** Resolves when it listens, or when the first try failed and it goes on trying. */
export async function openListener(options: ListenOptions): Promise<Listener> {
  let closed = false
  let client: Client | null = null
  let listening = false
  let timer: NodeJS.Timeout | undefined
  let retryMs = FIRST_RETRY_MS
  let working: Promise<void> = Promise.resolve()

  const later = (ms: number, work: () => Promise<void>): void => {
    if (closed) return
    clearTimeout(timer)
    timer = setTimeout(() => {
      working = work()
    }, ms)
    timer.unref()
  }

  const drop = (): void => {
    listening = false
    client?.release(true)
    client = null
  }

  const lost = (from: Client): void => {
    if (from !== client || closed) return
    drop()
    later(retryMs, listen)
  }

  const listen = async (): Promise<void> => {
    let fresh: Client | null = null
    try {
      fresh = await options.dedicated()
      const mine = fresh
      mine.on('notification', ({ channel, payload }) => {
        if (mine === client && channel === options.channel) options.onMessage(payload ?? '')
      })
      mine.on('error', () => lost(mine))
      mine.on('end', () => lost(mine))
      client = mine
      await mine.query({ text: `listen "${options.channel}"`, query_timeout: CHECK_TIMEOUT_MS })
      if (closed || client !== mine) return
      retryMs = FIRST_RETRY_MS
      listening = true
      options.onReturn()
      later(CHECK_MS, check)
    } catch {
      if (fresh && fresh !== client) return
      drop()
      later(retryMs, listen)
      retryMs = Math.min(retryMs * 2, MAX_RETRY_MS)
    }
  }

  const check = async (): Promise<void> => {
    const asked = client
    try {
      await asked?.query({ text: 'select 1', query_timeout: CHECK_TIMEOUT_MS })
      if (asked === client) later(CHECK_MS, check)
    } catch {
      if (asked) lost(asked)
    }
  }

  await listen()
  return {
    get listening() {
      return listening
    },
    async close() {
      closed = true
      clearTimeout(timer)
      await working
      drop()
    },
  }
}
