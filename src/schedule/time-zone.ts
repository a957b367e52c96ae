/** Answers a zone's name with its table of offset changes, one shared object per name; the tables come from `zone-data.ts` or `runtime-zone.ts`, the refusals from `zone-name.ts`. */
import { runtimeName, runtimeTable } from './runtime-zone.ts'
import { zonesMeantBy } from './zone-abbreviation.ts'
import { ZONE_DATA, ZONE_DATA_LAST_YEAR, ZONE_DATA_VERSION } from './zone-data.ts'
import { notationRefusal, unknownToRuntime, unknownZone, type ZoneNames, zoneText } from './zone-name.ts'
import { type OffsetTable, unpackTable } from './zone-table.ts'

export interface TimeZone extends OffsetTable {
  /** IANA spelling of the name that was asked for; a link keeps its own name. */
  readonly name: string
}

/** `bundled`: the data this package ships, the same on every machine. `runtime`: what this Node knows, 1970 to 2100. */
export type ZoneSource = 'bundled' | 'runtime'

/** A zone as it is kept here: it remembers the segment that answered last, since questions come in clusters. */
interface OpenZone extends TimeZone {
  hit: number
}

/** A name and its packed table. */
interface Entry {
  readonly name: string
  readonly packed: string
}

// Kept under the proper spelling only, so that nobody can grow these by playing with letter case.
const bundled = new Map<string, OpenZone>()
const runtime = new Map<string, OpenZone>()
const tables = new Map<string, OffsetTable>()
let index: Map<string, Entry> | undefined

export function timeZone(name: string, source: ZoneSource = 'bundled'): TimeZone {
  if (source === 'runtime') return runtime.get(name) ?? openRuntime(zoneText(name))
  return bundled.get(name) ?? openBundled(zoneText(name))
}

/** The segment `i` with `at[i] <= t < at[i + 1]`. */
export function segmentAt(zone: TimeZone, t: number): number {
  const { at } = zone
  const { hit } = zone as OpenZone
  if (at[hit]! <= t && t < at[hit + 1]!) return hit
  let low = 0
  let high = zone.offset.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (at[middle]! <= t) low = middle
    else high = middle - 1
  }
  ;(zone as OpenZone).hit = low
  return low
}

/** The release of the IANA database that the bundled data was made from. */
export function tzdataVersion(): string {
  return ZONE_DATA_VERSION
}

/** Every accepted name, links included, sorted. */
export function zoneNames(): string[] {
  return Array.from(entries().values(), (entry) => entry.name).sort()
}

function openBundled(name: string): TimeZone {
  const entry = find(name)
  if (!entry) throw unknownZone(name, NAMES)
  return bundled.get(entry.name) ?? keep(bundled, entry.name, bundledTable(entry.packed))
}

/** A zone and its links share one table. */
function bundledTable(packed: string): OffsetTable {
  let table = tables.get(packed)
  if (!table) {
    table = unpackTable(packed, ZONE_DATA_LAST_YEAR)
    tables.set(packed, table)
  }
  return table
}

function openRuntime(name: string): TimeZone {
  const entry = find(name)
  // Every runtime takes EST for a zone, and newer ones take plain offsets: both sources refuse the same notations.
  const refused = entry ? undefined : notationRefusal(name, NAMES)
  if (refused) throw refused
  const spelled = runtimeName(name)
  if (spelled === undefined) throw entry ? unknownToRuntime(entry.name) : unknownZone(name, NAMES)
  const own = entry?.name ?? spelled
  return runtime.get(own) ?? keep(runtime, own, runtimeTable(own))
}

function keep(opened: Map<string, OpenZone>, name: string, { at, offset }: OffsetTable): TimeZone {
  const zone: OpenZone = { name, at, offset, hit: 0 }
  opened.set(name, zone)
  return zone
}

function find(name: string): Entry | undefined {
  // Letters outside ASCII must not be put into lower case: the Kelvin sign, for one, would pass for a k.
  return /^[!-~]+$/.test(name) ? entries().get(name.toLowerCase()) : undefined
}

function entries(): Map<string, Entry> {
  if (index) return index
  index = new Map()
  for (const [zone, packed, ...links] of ZONE_DATA) {
    for (const name of [zone, ...links]) {
      if (!zonesMeantBy(name)) index.set(name.toLowerCase(), { name, packed })
    }
  }
  return index
}

const NAMES: ZoneNames = {
  all: zoneNames,
  // A packed table that ends with its last separator has no yearly rules.
  followsDst: (name) => !find(name)!.packed.endsWith('|'),
}
