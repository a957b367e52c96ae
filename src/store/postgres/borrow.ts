/** Lends clients of a pool, and replaces connections that are probably dead; what is asked on them is decided by `connection.ts`. */
import { systemClock } from '../../time/clock.ts'
import type { Client, Pool } from './client.ts'
import { isAway, isStandby, isTimeout } from './failure.ts'
import type { Admit, Hosts } from './hosts.ts'

export type Borrow = <Answer>(pool: Pool, work: (client: Client) => Promise<Answer>) => Promise<Answer>

const guardedClients = new WeakSet<Client>()

/** A client that is borrowed has no listener of the pool's, and its connection may break between two statements. */
export function guarded(client: Client): Client {
  if (!guardedClients.has(client)) client.on('error', () => {})
  guardedClients.add(client)
  return client
}

/**
 * A cut network kills every connection at once, and each would be found dead only by a statement that times out. So after one
 * timeout, idle connections of `own` pools that have not answered since are closed unused.
 */
export function createBorrow(own: readonly Pool[], hosts: Hosts | null, admit: Admit): Borrow {
  const answeredAt = new WeakMap<Client, number>()
  let suspectAt = Number.NEGATIVE_INFINITY

  const take = async (pool: Pool): Promise<Client> => {
    for (;;) {
      const client = guarded(await pool.connect())
      if (!own.includes(pool) || (answeredAt.get(client) ?? Number.POSITIVE_INFINITY) >= suspectAt) return client
      client.release(true)
    }
  }

  return async (pool, work) => {
    const client = await (hosts === null ? take(pool) : hosts.connect(() => take(pool), admit))
    let broken = false
    try {
      return await work(client)
    } catch (error) {
      // A connection that the gate refuses leads to the wrong server.
      broken = isAway(error) || isStandby(error)
      if (isTimeout(error)) suspectAt = systemClock.elapsed()
      throw error
    } finally {
      if (!broken) answeredAt.set(client, systemClock.elapsed())
      client.release(broken)
    }
  }
}
