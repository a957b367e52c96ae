/** Says, purely, whether an address is one of the public internet; who resolves names, and what is refused, is decided elsewhere. */
import { isIPv4, isIPv6 } from 'node:net'

/** Address and number of leading bits. */
type Range = readonly [address: string, bits: number]

/** Everything that IANA keeps from being an ordinary destination. */
const NOT_PUBLIC_V4: readonly Range[] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // shared by carriers
  ['127.0.0.0', 8], // loopback
  ['169.254.0.0', 16], // link-local, where clouds keep their metadata
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // relays of 6to4
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
]

/** Only this range is handed out; so loopback, ULA, link-local, multicast, and IPv4 in IPv6 clothes are outside of it. */
const GLOBAL_V6: Range = ['2000::', 3]
const NOT_PUBLIC_V6: readonly Range[] = [
  ['2001::', 23], // protocol assignments, Teredo among them, which hides an IPv4 address
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4, which hides one too
  ['3fff::', 20], // documentation
]

/** False for what is no address at all. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) {
    const bits = bitsOfV4(address)
    return !NOT_PUBLIC_V4.some(([start, length]) => isWithin(bits, bitsOfV4(start), 32 - length))
  }
  // A zone, as in fe80::1%eth0, speaks of a link of this machine.
  if (!isIPv6(address) || address.includes('%')) return false
  const bits = bitsOfV6(address)
  const within = ([start, length]: Range): boolean => isWithin(bits, bitsOfV6(start), 128 - length)
  return within(GLOBAL_V6) && !NOT_PUBLIC_V6.some(within)
}

const isWithin = (bits: bigint, start: bigint, rest: number): boolean => bits >> BigInt(rest) === start >> BigInt(rest)

const bitsOfV4 = (address: string): bigint => address.split('.').reduce((bits, part) => (bits << 8n) | BigInt(part), 0n)

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
