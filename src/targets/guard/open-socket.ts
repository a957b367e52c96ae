/** Opens a connection to addresses that were checked, under the name they were found by; no name is asked for here. */
import { isIP, type LookupFunction, connect as netConnect, type Socket } from 'node:net'
import { type SecureContextOptions, connect as tlsConnect } from 'node:tls'
import type { Place } from './rules.ts'

export interface ConnectOptions {
  /** For finding the name and connecting together; ten seconds when absent. */
  readonly timeoutMs?: number
  /** For a house with certificates of its own. */
  readonly tls?: Pick<SecureContextOptions, 'ca' | 'cert' | 'key'>
}

export interface Opening {
  readonly place: Place
  readonly secure: boolean
  readonly addresses: readonly { readonly address: string; readonly family: number }[]
  readonly tls: ConnectOptions['tls']
}

/** Before an address that is silent is left for the next one. */
const NEXT_ADDRESS_MS = 1000

export function openSocket({ place, secure, addresses, tls }: Opening, signal: AbortSignal): Promise<Socket> {
  const to = {
    host: place.host,
    port: Number(place.port),
    lookup: pinned(addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
    noDelay: true,
    keepAlive: true,
  }
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const socket = secure
      ? // The certificate must be the name's; an address has none to ask for.
        tlsConnect({
          ...to,
          ...tls,
          ALPNProtocols: ['http/1.1'],
          ...(isIP(place.host) ? {} : { servername: place.host }),
        })
      : netConnect(to)
    const giveUp = (): void => void socket.destroy(signal.reason as Error)
    signal.addEventListener('abort', giveUp)
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      signal.removeEventListener('abort', giveUp)
      resolve(socket)
    })
    // Stays, so that an error before the next owner listens has somebody to hear it.
    socket.on('error', (error) => {
      signal.removeEventListener('abort', giveUp)
      reject(error)
    })
  })
}

/** Answers what was checked, so that a name cannot lead elsewhere now. An address in place of a name never comes by here. */
const pinned =
  (addresses: Opening['addresses']): LookupFunction =>
  (_, { all }, done) => {
    if (all) done(null, [...addresses])
    else done(null, addresses[0]!.address, addresses[0]!.family)
  }
