/** Decides, purely, which URLs may be called and which addresses connected to; resolving names and connecting is left to `guard.ts`. */
import { isIP } from 'node:net'
import { EverytickError } from '../../errors.ts'
import { kindOfAddress } from '../address.ts'
import { type AllowList, isHostName } from './allow-list.ts'

export interface Rules {
  /** Null when any public host may be called. */
  readonly allow: AllowList | null
  /** Which private hosts may be called beside public ones, where `allow` is null. */
  readonly allowPrivate: boolean | AllowList
}

/** Where a connection is to go. */
export interface Place {
  /** A name, in small letters and without a dot at its end, or an address without brackets. */
  readonly host: string
  readonly port: string
}

/** Never with the address in it: a path may be a secret, and where a name leads is nobody's business. */
export const refusal = (reason: string, hint?: string): EverytickError =>
  new EverytickError('TARGET_REFUSED', reason, hint === undefined ? {} : { hint })

const MAX_LENGTH = 2048

/** Services that could take a line of HTTP for one of their own, such as mail servers; the list of browsers, by and large. */
const OTHER_PROTOCOLS = new Set(
  `1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 137
  139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723
  2049 3659 4045 4190 5060 5061 6000 6379 6566 6665 6666 6667 6668 6669 6679 6697 10080 11211`.split(/\s+/),
)

/** Says what can be said without a name server; throws a refusal. */
export function checkUrl(given: string | URL, rules: Rules): URL {
  const url = readUrl(given)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refusal('only http and https are called')
  if (url.username !== '' || url.password !== '') {
    throw refusal('the address has a user or a password in it', 'send an authorization header instead')
  }
  const place = placeOf(url)
  if (isIP(place.host)) checkAddresses([place.host], place, rules)
  else checkName(place, rules)
  checkPort(place, rules)
  return url
}

function readUrl(given: string | URL): URL {
  const text = String(given)
  if (text.length > MAX_LENGTH) throw refusal(`the address has more than ${MAX_LENGTH} characters`)
  // These are dropped when an address is read, so that what is called is not what is seen.
  if (/[\p{Cc}\p{Cf}\s]/u.test(text)) throw refusal('the address has blanks or characters in it that cannot be seen')
  if (!URL.canParse(text)) throw refusal('the address cannot be read', 'write it like https://example.com/path')
  return new URL(text)
}

export function placeOf({ protocol, hostname, port }: Pick<URL, 'protocol' | 'hostname' | 'port'>): Place {
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname.replace(/\.$/, '')
  return { host, port: port || (protocol === 'https:' ? '443' : '80') }
}

function checkName({ host, port }: Place, { allow, allowPrivate }: Rules): void {
  if (!isHostName(host)) throw refusal('the host of the address is not a name')
  if (allow !== null) {
    // Where the list has addresses, it depends on where the name leads.
    if (!allow.has(host, port) && !allow.hasRanges) throw notAllowed()
  } else if (!mayBePrivate(allowPrivate, { host, port }) && /^(?:.*\.)?localhost(?:\.localdomain)?$/.test(host))
    throw notPublic()
}

/** Where the list has addresses, it depends on where a name leads. */
const mayBePrivate = (allowPrivate: Rules['allowPrivate'], { host, port }: Place): boolean =>
  typeof allowPrivate === 'boolean' ? allowPrivate : allowPrivate.hasRanges || allowPrivate.has(host, port)

function checkPort({ host, port }: Place, { allow, allowPrivate }: Rules): void {
  if (port === '0') throw refusal('the address has the port 0')
  const list = allow ?? (typeof allowPrivate === 'boolean' ? null : allowPrivate)
  if (OTHER_PROTOCOLS.has(port) && list?.hasPort(host, port) !== true) {
    throw refusal(
      `port ${port} is for another protocol`,
      'put the host with its port on the allow-list if it speaks HTTP',
    )
  }
}

/** All of them must pass: which one is tried first is not for the name's owner to choose. Throws a refusal. */
export function checkAddresses(
  addresses: readonly string[],
  { host, port }: Place,
  { allow, allowPrivate }: Rules,
): void {
  if (addresses.length === 0) throw refusal('the name has no address')
  const named = !isIP(host) && allow?.has(host, port) === true
  for (const address of addresses) {
    const kind = kindOfAddress(address)
    if (allow === null) {
      if (kind === 'public') continue
      if (kind !== 'private') throw neverPublic()
      if (!isListed(allowPrivate, { host, address, port })) throw notPublic()
    } else if (!allow.has(address, port)) {
      if (!named) throw notAllowed()
      // Somebody named the host and may keep it in the house; the metadata of a cloud they must name by its address.
      if (kind !== 'public' && kind !== 'private') throw neverPublic()
    }
  }
}

function isListed(
  allowPrivate: Rules['allowPrivate'],
  { host, address, port }: Place & { readonly address: string },
): boolean {
  if (typeof allowPrivate === 'boolean') return allowPrivate
  return allowPrivate.has(address, port) || (!isIP(host) && allowPrivate.has(host, port))
}

const NOT_PUBLIC = 'the name leads to an address that is not public'
const notPublic = (): EverytickError => refusal(NOT_PUBLIC, 'allow it with allow or allowPrivate if it is meant')
/** Such as the metadata of a cloud, which no `allowPrivate` opens. */
const neverPublic = (): EverytickError => refusal(NOT_PUBLIC)
const notAllowed = (): EverytickError => refusal('the host is not on the allow-list')
