/** Keeps the connections: one agent of undici for all jobs whose guards are alike, since a connection may be used by whoever may have opened it. */
import { createGuard, type Guard, type GuardOptions } from '../guard/guard.ts'
import type { ConnectOptions } from '../guard/open-socket.ts'
import type { Way } from './call.ts'

export interface WayOptions extends GuardOptions {
  /** For receivers with certificates of a house's own. */
  readonly tls?: NonNullable<ConnectOptions['tls']>
}

export interface WayOut {
  readonly guard: Guard
  /** undici is loaded with the first call: most who import this package make none. */
  open(): Promise<Way>
}

const agents = new Map<string, Promise<Way>>()

export function wayOut({ tls, ...options }: WayOptions): WayOut {
  const guard = createGuard(options)
  const { allow, allowPrivate = false, resolve } = options
  const opened = async (): Promise<Way> => {
    const { Agent } = await import('undici')
    const connect = guard.connector(tls === undefined ? {} : { tls })
    return new Agent({ connect, pipelining: 1, maxHeaderSize: MAX_HEADER_BYTES, keepAliveMaxTimeout: MAX_IDLE_MS })
  }
  if (tls !== undefined || resolve !== undefined) {
    let own: Promise<Way> | null = null
    return {
      guard,
      open: () => {
        own ??= opened()
        return own
      },
    }
  }
  const uniform = JSON.stringify([allow ?? null, allowPrivate])
  return {
    guard,
    open: () => {
      const known = agents.get(uniform) ?? opened()
      agents.set(uniform, known)
      return known
    },
  }
}

const MAX_HEADER_BYTES = 16 * 1024
/** Whatever a receiver promises: many hosts that promise minutes would use up the descriptors of this process. */
const MAX_IDLE_MS = 10_000
