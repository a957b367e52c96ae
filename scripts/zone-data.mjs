/** Packs the time-zone data of the installed `moment-timezone` into `src/schedule/zone-data.ts`; reading it back is `zone-table.ts`'s matter. */
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'

const TARGET = fileURLToPath(new URL('../src/schedule/zone-data.ts', import.meta.url))
const DECODER = fileURLToPath(new URL('../src/schedule/zone-table.ts', import.meta.url))
const DAY = 86_400
const QUARTER_HOUR = 900
const MAX_BYTES_GZIPPED = 60_000

/** The source as its package ships it: version, packed zones, links. */
export function readSource() {
  const path = createRequire(import.meta.url).resolve('moment-timezone/data/packed/latest.json')
  return JSON.parse(readFileSync(path, 'utf8'))
}

/** A number in the source's base 60: 0-9, a-z, A-X, with a fraction after a point. */
function sourceNumber(text) {
  const negative = text.startsWith('-')
  const [whole, fraction = ''] = text.slice(negative ? 1 : 0).split('.')
  let value = 0
  for (const digit of whole) value = value * 60 + sourceDigit(digit)
  let unit = 1
  for (const digit of fraction) value += sourceDigit(digit) * (unit /= 60)
  return negative ? -value : value
}

function sourceDigit(character) {
  const value = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX'.indexOf(character)
  if (value < 0) throw new Error(`"${character}" is not a digit of the source's base 60`)
  return value
}

/** One source zone as seconds: `offsets[0]` holds before `changes[0]`; neighbours with equal offsets are merged. */
function readZone(line) {
  const [name, , offsetTexts, order, distanceTexts] = line.split('|')
  // The source counts minutes west of UTC; adding 0 turns -0 into 0.
  const choices = offsetTexts.split(' ').map((text) => Math.round(-sourceNumber(text) * 60) + 0)
  const indices = [...order].map(sourceDigit)
  const distances = distanceTexts ? distanceTexts.split(' ') : []
  if (indices.length !== distances.length + 1) throw new Error(`${name}: segments and changes do not fit together`)
  const zone = { name, offsets: [choices[indices[0]]], changes: [] }
  let minutes = 0
  distances.forEach((text, i) => {
    minutes += sourceNumber(text)
    const offset = choices[indices[i + 1]]
    if (offset === zone.offsets.at(-1)) return
    zone.changes.push(Math.round(minutes * 60))
    zone.offsets.push(offset)
  })
  return zone
}

const yearOf = (seconds) => new Date(seconds * 1000).getUTCFullYear()
const dayNumber = (year, month, day) => Date.UTC(year, month, day) / 1000 / DAY
const weekdayOf = (day) => (((day + 4) % 7) + 7) % 7

/**
 * The yearly rules that a zone's last changes obey, and the first year from which nothing else happens.
 * The source lists centuries of changes, so each rule's earliest day shows itself as the smallest one used.
 */
function findRules(zone, lastYear) {
  const years = new Map()
  zone.changes.forEach((change, i) => {
    const year = yearOf(change)
    years.set(year, [...(years.get(year) ?? []), { change, offset: zone.offsets[i + 1] }])
  })
  if (!years.has(lastYear)) return { from: Number.POSITIVE_INFINITY, rules: [] }
  const perYear = years.get(lastYear).length
  const sample = [...years.values()].slice(-400)
  if (sample.some((changes) => changes.length !== perYear)) throw new Error(`${zone.name}: its years differ`)
  const rules = years.get(lastYear).map(({ offset }, k) =>
    ruleOf(
      sample.map((changes) => changes[k].change),
      offset,
    ),
  )
  const obeyed = (year) =>
    years.get(year)?.length === perYear &&
    rules.every(
      (rule, k) => ruleInYear(rule, year) === years.get(year)[k].change && rule.offset === years.get(year)[k].offset,
    )
  let from = lastYear + 1
  while (obeyed(from - 1)) from--
  if (from > lastYear - 400) throw new Error(`${zone.name}: its last changes follow no yearly rule`)
  return { from, rules }
}

/** The rule behind one change a year: a weekday on or after a day of a month, at a second of the UTC day. */
function ruleOf(changes, offset) {
  // Seen in UTC, a month's first Sunday may be the last day of the month before: days count from the commonest month.
  const month = commonest(changes.map((change) => new Date(change * 1000).getUTCMonth()))
  const days = changes.map((change) => Math.floor(change / DAY) - dayNumber(yearOf(change), month, 0))
  const last = changes.at(-1)
  return { month, day: Math.min(...days), weekday: weekdayOf(Math.floor(last / DAY)), second: last % DAY, offset }
}

function ruleInYear({ month, day, weekday, second }, year) {
  const earliest = dayNumber(year, month, day)
  return (earliest + ((weekday - weekdayOf(earliest) + 7) % 7)) * DAY + second
}

function commonest(values) {
  const counts = new Map()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1])[0][0]
}

/** A zone in the form that `unpackTable` reads. */
function packZone(zone, lastYear) {
  const { from, rules } = findRules(zone, lastYear)
  const explicit = zone.changes.filter((change) => yearOf(change) < from)
  const choices = [...new Set(zone.offsets)]
  const order = zone.offsets.slice(0, explicit.length + 1).map((offset) => choices.indexOf(offset).toString(36))
  const distances = explicit.map((change, i) => packDistance(change - (i === 0 ? 0 : explicit[i - 1])))
  const numbers = rules.flatMap((rule) => [
    rule.month + 1,
    rule.day,
    rule.weekday,
    rule.second,
    choices.indexOf(rule.offset),
  ])
  const base36 = (values) => values.map((value) => value.toString(36)).join(' ')
  return [
    base36(choices),
    order.join(''),
    distances.join(' '),
    rules.length > 0 ? base36([from, ...numbers]) : '',
  ].join('|')
}

function packDistance(seconds) {
  const quarters = Math.floor(seconds / QUARTER_HOUR)
  const spare = seconds - quarters * QUARTER_HOUR
  return quarters.toString(36) + (spare > 0 ? `.${spare.toString(36)}` : '')
}

/** The packed zones of a source: each with its own name, its links, its plain reading and its packed form. */
export function packSource(source) {
  const zones = source.zones.map(readZone)
  const lastYear = Math.max(
    ...zones.filter((zone) => zone.changes.length > 0).map((zone) => yearOf(zone.changes.at(-1))),
  )
  const packed = zones.map((zone) => {
    const links = source.links.map((link) => link.split('|')).filter(([target]) => target === zone.name)
    return { zone, names: [zone.name, ...links.map(([, link]) => link).sort()], packed: packZone(zone, lastYear) }
  })
  const named = packed.flatMap((entry) => entry.names)
  if (named.length !== source.zones.length + source.links.length) throw new Error('a link points at no zone')
  return { version: source.version, lastYear, zones: packed.sort((a, b) => (a.zone.name < b.zone.name ? -1 : 1)) }
}

/** The whole text of `src/schedule/zone-data.ts`. */
export function moduleText({ version, lastYear, zones }) {
  const lines = zones.map(({ names: [name, ...links], packed }) => {
    return `  [${[name, packed, ...links].map((text) => `'${text}'`).join(', ')}],`
  })
  return `/** Offset changes of every IANA zone, packed as \`zone-table.ts\` reads them; written by \`npm run zones\`, never by hand. */
// The IANA time zone database (public domain), by way of the moment-timezone data package (MIT).

export const ZONE_DATA_VERSION = '${version}'

/** Yearly rules are carried to the end of this year, as far as the source goes. */
export const ZONE_DATA_LAST_YEAR = ${lastYear}

/** Per zone: its name, its packed table, then its links. Names stand alone because V8 is slow to compare parts of a text. */
export const ZONE_DATA: readonly (readonly [name: string, table: string, ...links: string[]])[] = [
${lines.join('\n')}
]
`
}

/** Throws unless the decoder that ships gives back every change of the source. */
function verify({ lastYear, zones }, unpackTable) {
  for (const { zone, packed } of zones) {
    const { at, offset } = unpackTable(packed, lastYear)
    const want = [Number.NEGATIVE_INFINITY, ...zone.changes.map((change) => change * 1000), Number.POSITIVE_INFINITY]
    const same =
      at.length === want.length &&
      offset.length === zone.offsets.length &&
      want.every((instant, i) => at[i] === instant) &&
      zone.offsets.every((seconds, i) => offset[i] === seconds * 1000)
    if (!same) throw new Error(`${zone.name}: the packed table does not read back as its source`)
  }
}

async function main() {
  // The decoder is TypeScript, which Node 20 cannot load by itself.
  const { runnerImport } = await import('vite')
  const { module: decoder } = await runnerImport(DECODER)
  const data = packSource(readSource())
  verify(data, decoder.unpackTable)
  const text = moduleText(data)
  const gzipped = gzipSync(text).length
  if (gzipped > MAX_BYTES_GZIPPED) throw new Error(`${gzipped} bytes gzipped is more than ${MAX_BYTES_GZIPPED}`)
  writeFileSync(TARGET, text)
  const names = data.zones.flatMap((entry) => entry.names).length
  console.log(
    `tz ${data.version}: ${data.zones.length} zones, ${names} names, ${text.length} bytes, ${gzipped} gzipped`,
  )
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await main()
