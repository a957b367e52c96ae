/** Says, purely, of what kind an address is and in which range it lies; who resolves names, and what is refused, is decided elsewhere. */
import { isIPv4, isIPv6 } from 'node:net'

/** Addresses that agree in their leading bits. */
export interface AddressRange {
  readonly family: 4 | 6
  readonly start: bigint
  /** How many bits at the end are free. */
  readonly free: bigint
}

/**
 * `private` is a machine in the same house: this one, its neighbours, or a carrier's. `special` is everything else that is
 * not an ordinary destination, such as the metadata of clouds, multicast, and IPv4 in IPv6 clothes.
 */
export type AddressKind = 'public' | 'private' | 'special'

/** Virtual machines find their keys here, so they are special even where their neighbours are private or public. */
const METADATA = ranges('169.254.0.0/16 100.100.100.200 168.63.129.16 192.0.0.192 fe80::/10 fd00:ec2::/32 fd20:ce::254')

/** Loopback, private, shared by carriers, benchmarks; loopback and unique local. */
const PRIVATE = ranges('127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 198.18.0.0/15 ::1 fc00::/7')

/** What else IANA keeps from being an ordinary destination. */
const RESERVED = ranges(
  [
    '0.0.0.0/8', // this network
    '192.0.0.0/24', // protocol assignments
    '192.0.2.0/24 198.51.100.0/24 203.0.113.0/24', // documentation
    '192.88.99.0/24', // relays of 6to4
    '224.0.0.0/4 240.0.0.0/4', // multicast; reserved and broadcast
    '2001::/23', // protocol assignments, Teredo among them, which hides an IPv4 address
    '2001:db8::/32 3fff::/20', // documentation
    '2002::/16', // 6to4, which hides one too
  ].join(' '),
)

/** Only this of IPv6 is handed out; so link-local, multicast, and mapped IPv4 are outside of it. */
const GLOBAL_V6 = ranges('2000::/3')

/** Where a network without IPv4 finds the IPv4 internet: the last 32 bits are the address that is meant. */
const NAT64 = ranges('64:ff9b::/96')

/** Null for what is no address at all. */
export function kindOfAddress(address: string): AddressKind | null {
  const read = readAddress(address)
  if (read === null) return null
  const within = (list: readonly AddressRange[]): boolean => list.some((range) => isInRange(read, range))
  if (within(METADATA)) return 'special'
  if (within(PRIVATE)) return 'private'
  if (within(RESERVED)) return 'special'
  if (within(NAT64)) return kindOfAddress(textOfV4(read.bits & 0xffff_ffffn)) === 'public' ? 'public' : 'special'
  return read.family === 4 || within(GLOBAL_V6) ? 'public' : 'special'
}

/** False for what is no address at all. */
export const isPublicAddress = (address: string): boolean => kindOfAddress(address) === 'public'

/** Whether an address lies in one of the ranges. IPv4 in IPv6 clothes lies in no range of IPv4. */
export function isWithin(address: string, list: readonly AddressRange[]): boolean {
  const read = readAddress(address)
  return read !== null && list.some((range) => isInRange(read, range))
}

/** Reads `10.0.0.0/8`, `fd00::/8`, or one address; null for anything else. */
export function readRange(text: string): AddressRange | null {
  const [address = '', length, ...rest] = text.split('/')
  const read = readAddress(address)
  if (read === null || rest.length > 0) return null
  const all = read.family === 4 ? 32 : 128
  if (length !== undefined && (!/^\d{1,3}$/.test(length) || Number(length) > all)) return null
  return { family: read.family, start: read.bits, free: BigInt(all - Number(length ?? all)) }
}

interface Address {
  readonly family: 4 | 6
  readonly bits: bigint
}

function readAddress(text: string): Address | null {
  if (isIPv4(text)) return { family: 4, bits: bitsOfV4(text) }
  // A zone, as in fe80::1%eth0, speaks of a link of this machine.
  return isIPv6(text) && !text.includes('%') ? { family: 6, bits: bitsOfV6(text) } : null
}

const isInRange = ({ family, bits }: Address, range: AddressRange): boolean =>
  family === range.family && bits >> range.free === range.start >> range.free

function ranges(text: string): readonly AddressRange[] {
  return text.split(' ').map((each) => readRange(each)!)
}

function bitsOfV4(address: string): bigint {
  return address.split('.').reduce((bits, part) => (bits << 8n) | BigInt(part), 0n)
}

const textOfV4 = (bits: bigint): string => [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 0xffn).join('.')

function bitsOfV6(address: string): bigint {
  const [head = '', tail] = address.split('::')
  const before = groupsOf(head)
  const after = tail === undefined ? [] : groupsOf(tail)
  const zeros = new Array<bigint>(Math.max(0, 8 - before.length - after.length)).fill(0n)
  return [...before, ...zeros, ...after].reduce((bits, group) => (bits << 16n) | group, 0n)
}

function groupsOf(text: string): bigint[] {
  if (text === '') return []
  return text.split(':').flatMap((part) => {
    if (!part.includes('.')) return [BigInt(`0x${part}`)]
    const bits = bitsOfV4(part)
    return [bits >> 16n, bits & 0xffffn]
  })
}
