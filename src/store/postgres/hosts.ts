/** Decides which of several hosts new connections go to: the first that answers and is a primary; one host is never asked what it is. */
import { EverytickError } from '../../errors.ts'
import type { Client } from './client.ts'
import { failureOf } from './failure.ts'

export interface Hosts {
  /** Of the host that new connections go to. */
  readonly url: string
  /** Calls `take` until the client it answers leads to a primary, at most twice for each host. */
  connect(take: () => Promise<Client>): Promise<Client>
}

const IN_RECOVERY = 'select pg_is_in_recovery() as standby'
const CHECK_TIMEOUT_MS = 5000

export function createHosts(urls: readonly [string, ...string[]]): Hosts {
  let place = 0
  /** Idle clients of a pool come back, and were asked before. */
  const primaries = new WeakSet<Client>()

  /** Unless another connection has moved on already. */
  const moveOn = (from: number): void => {
    if (place === from) place = (from + 1) % urls.length
  }

  const isPrimary = async (client: Client): Promise<boolean> => {
    if (primaries.has(client)) return true
    const { rows } = await client.query({ text: IN_RECOVERY, query_timeout: CHECK_TIMEOUT_MS })
    const { standby } = rows[0] as { standby: boolean }
    if (!standby) primaries.add(client)
    return !standby
  }

  return {
    get url() {
      return urls[place]!
    },
    async connect(take) {
      if (urls.length === 1) return take()
      let failure: unknown
      for (let tries = 0; tries < 2 * urls.length; tries += 1) {
        const from = place
        let client: Client | null = null
        try {
          client = await take()
          if (await isPrimary(client)) return client
          failure = new EverytickError('STORE_UNREACHABLE', 'no host of the address is a primary that answers', {
            hint: 'Everytick writes, and a standby takes no writes: add the address of the primary, or look after its failover',
          })
        } catch (error) {
          // A wrong password or database is the same on every host.
          if (!isOfHost(error)) throw error
          failure = error
        }
        client?.release(true)
        moveOn(from)
      }
      throw failure
    },
  }
}

const isOfHost = (error: unknown): boolean => {
  const { code } = failureOf(error, 'host') as { code?: string }
  return code === 'STORE_UNREACHABLE' || code === 'STORE_TLS'
}
