/** Promises of zone names, refusals and segments; whether the bundled data matches its source is held in `test/zone-data.test.ts`. */
import { describe, expect, it } from 'vitest'
import { EverytickError } from '../errors.ts'
import { segmentAt, type TimeZone, timeZone, tzdataVersion, zoneNames } from './time-zone.ts'
import { abbreviations, zonesMeantBy } from './zone-abbreviation.ts'

const HOUR_MS = 3_600_000

function hoursEast(name: string, iso: string): number {
  const zone = timeZone(name)
  return zone.offset[segmentAt(zone, Date.parse(iso))]! / HOUR_MS
}

function refusalOf(name: unknown, source?: 'bundled' | 'runtime'): EverytickError {
  try {
    timeZone(name as string, source)
  } catch (error) {
    if (error instanceof EverytickError) return error
    throw error
  }
  throw new Error(`${String(name)} was accepted`)
}

/** The segment by plain search from the front. */
function segmentBySearch(zone: TimeZone, t: number): number {
  return zone.at.findLastIndex((at) => at <= t)
}

describe('names', () => {
  it('are accepted in any letter case and answered in IANA spelling', () => {
    expect(timeZone('eUROPE/bERLIN').name).toBe('Europe/Berlin')
    expect(timeZone('america/argentina/comodrivadavia').name).toBe('America/Argentina/ComodRivadavia')
    expect(timeZone('utc').name).toBe('UTC')
  })

  it('give the same object however they are written', () => {
    expect(timeZone('EUROPE/BERLIN')).toBe(timeZone('Europe/Berlin'))
    expect(timeZone('asia/tokyo', 'runtime')).toBe(timeZone('Asia/Tokyo', 'runtime'))
    expect(timeZone('Asia/Tokyo', 'runtime')).not.toBe(timeZone('Asia/Tokyo'))
  })

  it('keep a link under its own name while it shares the table of its zone', () => {
    expect(timeZone('Asia/Calcutta').name).toBe('Asia/Calcutta')
    expect(timeZone('Asia/Calcutta').at).toBe(timeZone('Asia/Kolkata').at)
  })

  it.each(['UTC', 'GMT', 'GMT0', 'GMT+0', 'Etc/GMT-14', 'EST5EDT', 'CET', 'EET', 'MET', 'WET', 'GB', 'Japan', 'Zulu'])(
    'include %s',
    (name) => expect(timeZone(name).name).toBe(name),
  )

  it('are listed sorted and complete, each one accepted', () => {
    const names = zoneNames()
    expect(names).toEqual([...names].sort())
    expect(new Set(names).size).toBe(names.length)
    expect(names.length).toBeGreaterThan(590)
    expect(names).toContain('Asia/Calcutta')
    expect(names).not.toContain('EST')
    for (const name of names) expect(timeZone(name).name).toBe(name)
  })
})

describe('refusals', () => {
  it('of an abbreviation propose two zones and say what each does', () => {
    const error = refusalOf('EST')
    expect(error.code).toBe('TIMEZONE_UNKNOWN')
    expect(error.message).toBe('"EST" is an abbreviation, not a zone.')
    expect(error.hint).toBe('did you mean America/New_York (follows DST) or Etc/GMT+5 (fixed)?')
    expect(refusalOf('ist').hint).toBe('did you mean Asia/Kolkata (no DST) or Europe/Dublin (follows DST)?')
  })

  it('of every abbreviation hold for both sources and propose two different real zones', () => {
    expect(abbreviations()).toEqual(
      expect.arrayContaining(['EST', 'MST', 'HST', 'CST', 'PST', 'EDT', 'IST', 'BST', 'CEST', 'JST', 'AEST']),
    )
    for (const letters of abbreviations()) {
      const [likeliest, other] = zonesMeantBy(letters)!
      expect(likeliest).not.toBe(other)
      expect([timeZone(likeliest).name, timeZone(other).name]).toEqual([likeliest, other])
      expect(refusalOf(letters).message).toContain('abbreviation')
      expect(refusalOf(letters, 'runtime').message).toContain('abbreviation')
    }
  })

  it.each([
    ['+02:00', 'Etc/GMT-2'],
    ['UTC+2', 'Etc/GMT-2'],
    ['gmt-5', 'Etc/GMT+5'],
    ['-0800', 'Etc/GMT+8'],
    ['\u221203:00', 'Etc/GMT+3'],
    ['+14', 'Etc/GMT-14'],
    ['+05:30', 'Asia/Kolkata'],
    ['+00:00', 'UTC'],
    ['Z', 'UTC'],
    ['-14:00', 'IANA name'],
  ])('of the offset %s name %s', (offset, meant) => {
    expect(refusalOf(offset).message).toContain('is an offset, not a zone.')
    expect(refusalOf(offset).hint).toContain(meant)
    expect(refusalOf(offset, 'runtime').hint).toContain(meant)
  })

  it.each([
    ['Europ/Berlin', 'did you mean Europe/Berlin?'],
    ['Europe/Belrin', 'did you mean Europe/Berlin?'],
    ['America/New York', 'did you mean America/New_York?'],
    [' Asia/Tokyo ', 'did you mean Asia/Tokyo?'],
    ['Europe/Zürich', 'did you mean Europe/Zurich?'],
    ['Asia/To\u212Ayo', 'did you mean Asia/Tokyo?'],
    ['new york', 'did you mean America/New_York?'],
    ['Istanbul', 'did you mean Asia/Istanbul or Europe/Istanbul?'],
    ['Etc/GMT+20', 'did you mean Etc/GMT+0?'],
  ])('of %s say: %s', (name, hint) => expect(refusalOf(name).hint).toBe(hint))

  it.each([
    undefined,
    null,
    7,
    {},
    [],
    Symbol('zone'),
    () => 'UTC',
    '',
    '  ',
    '\0',
    'UTC\n',
    '\ud800',
    'Europe/Berlin\u202e',
    '__proto__',
    'constructor',
    'Nowhere/AtAll',
    'x'.repeat(65),
    'Europe/'.repeat(1_000_000),
  ])('of anything else are coded and short, without raw control characters (%#)', (name) => {
    for (const source of ['bundled', 'runtime'] as const) {
      const error = refusalOf(name, source)
      expect(error.code).toBe('TIMEZONE_UNKNOWN')
      expect(error.hint).toBeTruthy()
      expect(error.message.length).toBeLessThan(200)
      expect(error.message).not.toMatch(/\p{C}/u)
    }
  })
})

describe('segments', () => {
  it('have one offset each, none equal to its neighbour, between -Infinity and +Infinity', () => {
    for (const name of zoneNames()) {
      const { at, offset } = timeZone(name)
      expect(offset.length).toBe(at.length - 1)
      expect([at[0], at.at(-1)]).toEqual([Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY])
      expect(at.every((instant, i) => i === 0 || instant > at[i - 1]!)).toBe(true)
      expect(offset.every((ms, i) => i === 0 || ms !== offset[i - 1])).toBe(true)
    }
  })

  it('are found right whatever was asked before', () => {
    const zone = timeZone('Europe/Dublin')
    const instants = [...zone.at].flatMap((at) => [at - 1, at, at + 1])
    const jumping = instants.map((_, i) => instants[(i * 7919) % instants.length]!)
    for (const t of [...instants, ...instants.toReversed(), ...jumping]) {
      const last = zone.offset.length - 1
      expect(segmentAt(zone, t)).toBe(Math.min(segmentBySearch(zone, t), last))
    }
  })

  it('answer a segment even for what is no instant', () => {
    const zone = timeZone('Europe/Berlin')
    expect(segmentAt(zone, Number.NaN)).toBe(0)
    expect(segmentAt(zone, Number.NEGATIVE_INFINITY)).toBe(0)
    expect(segmentAt(zone, Number.POSITIVE_INFINITY)).toBe(zone.offset.length - 1)
  })

  it('follow the law of late 2026, which older runtimes do not know', () => {
    expect(hoursEast('America/Vancouver', '2026-12-15T00:00:00Z')).toBe(-7)
    expect(hoursEast('Africa/Casablanca', '2026-12-15T00:00:00Z')).toBe(0)
    expect(hoursEast('America/Winnipeg', '2026-12-15T00:00:00Z')).toBe(-5)
    expect(tzdataVersion() >= '2026f').toBe(true)
  })

  it('keep historic offsets to the second', () => {
    expect(hoursEast('Africa/Monrovia', '1972-01-07T00:44:29Z') * 3600).toBeCloseTo(-(44 * 60 + 30), 6)
    expect(hoursEast('Africa/Monrovia', '1972-01-07T00:44:30Z')).toBe(0)
  })

  it('go on by the last rule for centuries', () => {
    expect(hoursEast('Europe/Berlin', '2400-07-01T00:00:00Z')).toBe(2)
    expect(hoursEast('Europe/Berlin', '2400-12-01T00:00:00Z')).toBe(1)
  })
})

describe('the runtime source', () => {
  it('finds the same changes as the bundled data where nothing was amended', () => {
    const within = (zone: TimeZone) => [...zone.at].filter((at) => at >= 0 && at < Date.UTC(2100, 0))
    const [own, runtime] = [timeZone('Europe/Berlin'), timeZone('Europe/Berlin', 'runtime')]
    expect(within(own).length).toBeGreaterThan(200)
    expect(within(runtime)).toEqual(within(own))
    for (const at of within(own)) expect(runtime.offset[segmentAt(runtime, at)]).toBe(own.offset[segmentAt(own, at)])
  })

  it('answers a link under its own name', () => {
    expect(timeZone('asia/kolkata', 'runtime').name).toBe('Asia/Kolkata')
    expect(timeZone('GB', 'runtime').name).toBe('GB')
  })
})
