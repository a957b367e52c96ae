/** Decides which of several hosts new connections go to: the first that answers and that the gate admits; with one host, the caller asks the gate itself. */
import { EverytickError } from '../../errors.ts'
import type { Client } from './client.ts'
import { failureOf, isStandby } from './failure.ts'

export interface Hosts {
  /** Of the host that new connections go to. */
  readonly url: string
  /** Calls `take` until `admit` accepts the client it answers, at most twice for each host. */
  connect(take: () => Promise<Client>, admit: Admit): Promise<Client>
}

/** Throws when the client must not be used. `server` names its host in messages. */
export type Admit = (client: Client, server: string) => Promise<void>

export function createHosts(urls: readonly [string, ...string[]]): Hosts {
  let place = 0
  /** Idle clients of a pool come back. They may lead to another host than new ones. */
  const admitted = new WeakSet<Client>()

  /** Unless another connection has moved on already. */
  const moveOn = (from: number): void => {
    if (place === from) place = (from + 1) % urls.length
  }

  return {
    get url() {
      return urls[place]!
    },
    async connect(take, admit) {
      if (urls.length === 1) return take()
      const refusals = new Map<string, string>()
      let failure: unknown
      let takesNoWrites = false
      for (let tries = 0; tries < 2 * urls.length; ) {
        const from = place
        const host = new URL(urls[from]!).host
        let client: Client | null = null
        try {
          client = await take()
          await admit(client, host)
          admitted.add(client)
          return client
        } catch (error) {
          client?.release(true)
          const { code, message } = failureOf(error, host) as { code?: string; message?: string }
          // A wrong password or database is the same on every host.
          if (!OF_HOST.has(code)) throw error
          // The server was replaced since this connection was used last: that says nothing about new ones.
          if (client && admitted.has(client)) continue
          failure = error
          takesNoWrites ||= isStandby(error)
          refusals.set(host, message ?? '')
        }
        tries += 1
        moveOn(from)
      }
      throw takesNoWrites ? noPrimary([...refusals.values()]) : failure
    },
  }
}

const noPrimary = (refusals: readonly string[]): EverytickError =>
  new EverytickError('STORE_UNREACHABLE', `no host of the address is a primary that answers: ${refusals.join('; ')}`, {
    hint: 'Everytick writes, and a standby takes no writes: add the address of the primary, or look after its failover',
  })

const OF_HOST: ReadonlySet<string | undefined> = new Set(['STORE_STANDBY', 'STORE_UNREACHABLE', 'STORE_TLS'])
