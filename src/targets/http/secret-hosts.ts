/** Decides, purely, which addresses a secret that is tied to hosts may be sent to; what a secret is stands in `secrets.ts`. */
import { kindOfAddress } from '../address.ts'
import { placeOf } from '../guard/rules.ts'

/** A name or an address in small letters; with a port, only that one. */
export interface SecretHost {
  readonly host: string
  readonly port: string | null
}

/** Reads `api.example.com`, `api.example.com:8443`, `[fd00::1]:8443`, or an address. */
export function readHost(text: string): SecretHost {
  const [, named, port] = /^(\[.*\]|[^:]*):(\d{1,5})$/.exec(text) ?? []
  const host = (named ?? text).toLowerCase().replace(/^\[|\]$/g, '')
  return { host, port: port === undefined ? null : String(Number(port)) }
}

/** Whoever names a port knows what listens there; otherwise nobody on the way may read it, unless the way does not leave the house. */
export function isSentTo(hosts: readonly SecretHost[], url: URL): boolean {
  const place = placeOf(url)
  const isSafe = url.protocol === 'https:' || place.host === 'localhost' || kindOfAddress(place.host) === 'private'
  return hosts.some(({ host, port }) => host === place.host && (port === null ? isSafe : port === place.port))
}
