/** The one way out to addresses that somebody typed: checked by `rules.ts`, resolved once, and connected to just what was checked. */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { buildConnector } from 'undici'
import { readAllowList } from './allow-list.ts'
import { type ConnectOptions, openSocket } from './open-socket.ts'
import { checkAddresses, checkUrl, type Place, placeOf, type Rules } from './rules.ts'

export interface Resolved {
  readonly address: string
  readonly family: number
}

export interface GuardOptions {
  /**
   * When given, only these are called: `host`, `*.host`, `host:port`, an address, or a range such as `10.0.0.0/8`. A name on
   * it may lead to private addresses; a name that is not may be called if all its addresses are in a range of the list.
   */
  readonly allow?: readonly string[]
  /**
   * Whether this machine and its neighbours may be called, or which of them, in the words of `allow`; the metadata of clouds
   * never, unless `allow` has its address.
   */
  readonly allowPrivate?: boolean | readonly string[]
  /** How names become addresses; as the operating system does it when absent. */
  readonly resolve?: (host: string) => Promise<readonly Resolved[]>
}

export interface Guard {
  /** Throws TARGET_REFUSED; where the name leads is only found when connecting. */
  check(url: string | URL): URL
  /** The addresses that a host leads to, all of them checked; throws TARGET_REFUSED. */
  addresses(place: Place, signal: AbortSignal): Promise<readonly Resolved[]>
  /** For the option `connect` of an agent of undici. */
  connector(options?: ConnectOptions): buildConnector.connector
}

export function createGuard({ allow, allowPrivate = false, resolve = resolved }: GuardOptions = {}): Guard {
  const rules: Rules = {
    allow: allow === undefined ? null : readAllowList(allow),
    allowPrivate: typeof allowPrivate === 'boolean' ? allowPrivate : readAllowList(allowPrivate),
  }

  const addresses: Guard['addresses'] = async (place, signal) => {
    const family = isIP(place.host)
    const found = family ? [{ address: place.host, family }] : await within(resolve(place.host), signal)
    const plain = found.map(({ address }) => ({ address, family: isIP(address) }))
    checkAddresses(
      plain.map(({ address }) => address),
      place,
      rules,
    )
    return plain
  }

  return {
    check: (url) => checkUrl(url, rules),
    addresses,
    connector:
      ({ timeoutMs = CONNECT_TIMEOUT_MS, tls } = {}) =>
      (to, done) => {
        const signal = AbortSignal.timeout(timeoutMs)
        const open = async () => {
          // Checked here too: only what comes by here is sure to be what is called.
          const place = placeOf(checkUrl(urlOf(to), rules))
          const secure = to.protocol === 'https:'
          return openSocket({ place, secure, addresses: await addresses(place, signal), tls }, signal)
        }
        open().then(
          (socket) => done(null, socket),
          (error: unknown) => done(signal.aborted ? tooLong() : (error as Error), null),
        )
      },
  }
}

const CONNECT_TIMEOUT_MS = 10_000

const tooLong = (): Error => Object.assign(new Error('the connection took too long'), { code: 'ETIMEDOUT' })

const resolved = (host: string): Promise<readonly Resolved[]> => lookup(host, { all: true, verbatim: true })

const urlOf = ({ protocol, hostname, port }: buildConnector.Options): string =>
  `${protocol}//${isIP(hostname) === 6 ? `[${hostname}]` : hostname}${port === '' ? '' : `:${port}`}/`

/** A name server that is silent is not waited for. */
function within<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const late = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  return Promise.race([work, late])
}
