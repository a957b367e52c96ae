/** Holds the bundled zone data to its source, and shows where the running Node disagrees with it. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { segmentAt, type TimeZone, timeZone, tzdataVersion, zoneNames } from '../src/schedule/time-zone.ts'

interface Source {
  readonly version: string
  readonly zones: readonly string[]
  readonly links: readonly string[]
}

interface Generator {
  readSource(): Source
  packSource(source: Source): unknown
  moduleText(packed: unknown): string
}

const HOUR_MS = 3_600_000
const source: Source = createRequire(import.meta.url)('moment-timezone/data/packed/latest.json')
const generated = readFileSync(new URL('../src/schedule/zone-data.ts', import.meta.url), 'utf8')
const ABBREVIATIONS_IN_SOURCE = ['EST', 'HST', 'MST']

/** Seconds from the source's minutes in base 60, in whole numbers throughout. */
function seconds(text: string): number {
  const [minutes = '', rest = '0'] = text.replace('-', '').split('.')
  const value = (digits: string) => [...digits].reduce((sum, digit) => sum * 60 + DIGITS.indexOf(digit), 0)
  return (value(minutes) * 60 + value(rest)) * (text.startsWith('-') ? -1 : 1)
}
const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX'

/** Every change of one source line as [instant, offset], the first at -Infinity; repeated offsets are left in. */
function changesOf(line: string): [at: number, offset: number][] {
  const [, , offsets = '', order = '', distances = ''] = line.split('|')
  const choices = offsets.split(' ').map((text) => -seconds(text) * 1000)
  let t = 0
  const at = distances === '' ? [] : distances.split(' ').map((text) => (t += seconds(text) * 1000))
  return [Number.NEGATIVE_INFINITY, ...at].map((instant, i) => [instant, choices[DIGITS.indexOf(order[i]!)]!])
}

function offsetOf(zone: TimeZone, t: number): number {
  return zone.offset[segmentAt(zone, t)]!
}

describe('the bundled zone data', () => {
  it('is what the generator makes of the installed source (if not: npm run zones)', async () => {
    const path = new URL('../scripts/zone-data.mjs', import.meta.url).href
    const generator = (await import(path)) as Generator
    expect(generator.moduleText(generator.packSource(generator.readSource())) === generated).toBe(true)
  })

  it('is release 2026f or newer, the release of its source, and under 60 KB gzipped', () => {
    expect(tzdataVersion() >= '2026f').toBe(true)
    expect(tzdataVersion()).toBe(source.version)
    expect(gzipSync(generated).length).toBeLessThan(60_000)
  })

  it('has every change of the source from 1900 to 2150 and no other, for every zone and link', () => {
    const lines = new Map(source.zones.map((line) => [line.slice(0, line.indexOf('|')), line]))
    for (const link of source.links) {
      const [target = '', name = ''] = link.split('|')
      lines.set(name, lines.get(target)!)
    }
    for (const name of ABBREVIATIONS_IN_SOURCE) expect(lines.delete(name)).toBe(true)
    expect([...lines.keys()].sort()).toEqual(zoneNames())

    const within = (at: number) => at >= Date.UTC(1900, 0) && at < Date.UTC(2151, 0)
    const wrong: string[] = []
    for (const [name, line] of lines) {
      const zone = timeZone(name)
      const all = changesOf(line)
      const real = all.filter(([at, offset], i) => within(at) && offset !== all[i - 1]?.[1])
      const ours = [...zone.at].filter(within)
      if (ours.length !== real.length) wrong.push(`${name}: ${ours.length} changes, not ${real.length}`)
      for (const [i, [at, offset]] of real.entries()) {
        if (ours[i] !== at || offsetOf(zone, at) !== offset) wrong.push(`${name} at ${new Date(at).toISOString()}`)
      }
      const atStart = all.findLast(([at]) => at <= Date.UTC(1900, 0))!
      if (offsetOf(zone, Date.UTC(1900, 0)) !== atStart[1]) wrong.push(`${name} in 1900`)
    }
    expect(wrong).toEqual([])
  })
})

describe('the running Node', () => {
  it('is compared with the bundled data for 2025 to 2036, and each disagreement is printed', () => {
    const notes = new Map<string, string[]>()
    let compared = 0
    for (const name of zoneNames()) {
      const format = formatterOf(name)
      if (!format) continue
      compared++
      const note = firstDisagreement(timeZone(name), format)
      if (note) notes.set(note, [...(notes.get(note) ?? []), name])
    }
    const lines = [...notes].map(([note, names]) => `  ${note}: ${names.join(', ')}`).sort()
    const heading = `tz ${tzdataVersion()} here, tz ${process.versions.tz} in Node ${process.version}, ${compared} zones, 2025 to 2036:`
    console.log([heading, ...(lines.length > 0 ? lines : ['  no disagreement'])].join('\n'))
    expect(compared).toBeGreaterThan(400)
  })

  it.each(['Europe/Berlin', 'America/New_York', 'Asia/Tokyo', 'Australia/Lord_Howe'])(
    'agrees about %s from 1970 through 2099',
    (name) => {
      const [own, runtime] = [timeZone(name), timeZone(name, 'runtime')]
      const within = (zone: TimeZone) => [...zone.at].filter((at) => at >= 0 && at < Date.UTC(2100, 0))
      expect(within(runtime)).toEqual(within(own))
      for (const at of [0, ...within(own)]) expect(offsetOf(runtime, at)).toBe(offsetOf(own, at))
    },
  )
})

function formatterOf(timeZoneName: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: timeZoneName,
      hourCycle: 'h23',
      dateStyle: 'short',
      timeStyle: 'medium',
    })
  } catch {
    return undefined
  }
}

/** Looks every six days and around each of our own changes: fine enough, since clocks never change twice within six days. */
function firstDisagreement(zone: TimeZone, format: Intl.DateTimeFormat): string | undefined {
  const [from, to] = [Date.UTC(2025, 0), Date.UTC(2037, 0)]
  const instants = [...zone.at].filter((at) => at > from && at < to).flatMap((at) => [at - 1000, at])
  for (let t = from; t < to; t += 144 * HOUR_MS) instants.push(t)
  for (const t of instants.sort((a, b) => a - b)) {
    const [month, day, year, hour, minute, second] = format.format(t).match(/\d+/g)!.map(Number)
    const theirs = Date.UTC(2000 + year!, month! - 1, day!, hour!, minute!, second!) - t
    const ours = offsetOf(zone, t)
    if (ours !== theirs) return `${new Date(t).toISOString().slice(0, 10)} ${hours(ours)} here, ${hours(theirs)} there`
  }
  return undefined
}

function hours(ms: number): string {
  return `${ms < 0 ? '-' : '+'}${Math.abs(ms) / HOUR_MS} h`
}
