/** Reads the list of hosts that calls may go to, and says who is on it; what being on it means is decided by `rules.ts`. */
import { shown } from '../../errors.ts'
import { refused } from '../../options.ts'
import { type AddressRange, isWithin, readRange } from '../address.ts'

/** A name, or with `*.` in front all names below it; or a range of addresses. Without a port, any port. */
type Entry =
  | { readonly kind: 'name'; readonly name: string; readonly port: string | null }
  | { readonly kind: 'below'; readonly name: string; readonly port: string | null }
  | { readonly kind: 'range'; readonly range: AddressRange; readonly port: string | null }

export interface AllowList {
  /** Whether the list has a host: a name in small letters and without a dot at its end, or an address without brackets. */
  has(host: string, port: string): boolean
  /** Whether the list has it with this very port. */
  hasPort(host: string, port: string): boolean
  /** Whether a name that is not on the list could still lead to an address that is. */
  readonly hasRanges: boolean
}

const HINT = 'write api.example.com, *.example.com, example.com:8443, 10.1.2.3, [fd00::1]:8443, or 10.0.0.0/8'

export function readAllowList(given: unknown): AllowList {
  if (!Array.isArray(given)) throw refused(`allow is a list of hosts, not ${shown(given)}`, HINT)
  const entries = given.map(readEntry)
  return {
    has: (host, port) => entries.some((entry) => (entry.port === null || entry.port === port) && isFor(entry, host)),
    hasPort: (host, port) => entries.some((entry) => entry.port === port && isFor(entry, host)),
    hasRanges: entries.some(({ kind }) => kind === 'range'),
  }
}

function isFor(entry: Entry, host: string): boolean {
  switch (entry.kind) {
    case 'name':
      return host === entry.name
    case 'below':
      return host.endsWith(`.${entry.name}`)
    case 'range':
      return isWithin(host, [entry.range])
  }
}

function readEntry(given: unknown): Entry {
  const unreadable = () => refused(`allow has an entry that cannot be read: ${shown(given)}`, HINT)
  if (typeof given !== 'string') throw unreadable()
  const whole = readRange(given)
  if (whole !== null) return { kind: 'range', range: whole, port: null }
  const [, host = '', port = null] = /^(.*?)(?::(\d{1,5}))?$/.exec(given) ?? []
  if (port !== null && (Number(port) < 1 || Number(port) > 65_535)) throw unreadable()
  const range = /^\[.*\]$|^[\d.]+$/.test(host) ? readRange(host.replace(/^\[|\]$/g, '')) : null
  if (range !== null) return { kind: 'range', range, port: portOf(port) }
  const below = host.startsWith('*.')
  const name = nameOf(below ? host.slice(2) : host)
  if (name === null) throw unreadable()
  return { kind: below ? 'below' : 'name', name, port: portOf(port) }
}

const portOf = (port: string | null): string | null => (port === null ? null : String(Number(port)))

/** As an address would have it, so that both are compared in the same letters. */
function nameOf(text: string): string | null {
  if (!/^[^\s/?#@:\\[\]%*]+$/.test(text) || !URL.canParse(`http://${text}/`)) return null
  const name = new URL(`http://${text}/`).hostname.replace(/\.$/, '')
  // 2130706433 is an address in disguise: whoever means it writes it so that it can be read.
  return isHostName(name) && readRange(name) === null ? name : null
}

/** Letters, digits, hyphens and underscores, between dots. */
export const isHostName = (name: string): boolean =>
  name.length <= 253 && /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/.test(name)
