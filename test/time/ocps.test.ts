/**
 * The public test vectors of the Open Cron Pattern Specification 1.0 to 1.4 (github.com/open-source-cron/ocps,
 * data/conformance-tests.json), as a table of ours: which local times an expression matches, and what is no expression.
 */
import { describe, expect, it } from 'vitest'
import { parseCron } from '../../src/cron.ts'
import { EverytickError } from '../../src/errors.ts'
import { refuseNever } from '../../src/schedule/never.ts'

type Match = readonly [version: string, expression: string, matches: string, misses: string]

/** Times are divided by commas; seconds are 0 where none are written. */
const MATCHES: readonly Match[] = [
  ['1.0', '15 10 * * *', '2025-03-10 10:15', '2025-03-10 10:14'],
  ['1.0', '30 8 * jan Mon', '2025-01-06 08:30', '2025-02-03 08:30'],
  ['1.0', '5-59/15 9 * * *', '2025-03-10 09:05,2025-03-10 09:20,2025-03-10 09:35,2025-03-10 09:50', '2025-03-10 09:15'],
  ['1.0', '0 12 1 * MON', '2025-10-01 12:00,2025-10-06 12:00', '2025-10-07 12:00'],
  ['1.0', '0 12 * * MON', '2025-10-06 12:00', '2025-10-07 12:00'],
  ['1.0', '0 12 1-31 * MON', '2025-10-06 12:00,2025-10-07 12:00', '2025-10-08 11:00'],
  ['1.1', '@yearly', '2026-01-01 00:00', '2026-01-02 00:00'],
  ['1.1', '@monthly', '2026-02-01 00:00', '2026-02-02 00:00'],
  ['1.1', '@weekly', '2025-10-05 00:00', '2025-10-06 00:00'],
  ['1.1', '@daily', '2025-10-07 00:00', '2025-10-07 00:01'],
  ['1.1', '@hourly', '2025-10-07 10:00', '2025-10-07 10:01'],
  ['1.2', '15 10 * * *', '2025-03-10 10:15:00', '2025-03-10 10:15:30'],
  ['1.2', '30 15 10 * * *', '2025-03-10 10:15:30', '2025-03-10 10:15:29'],
  ['1.2', '0 15 10 * * * 2025', '2025-03-10 10:15:00', '2026-03-10 10:15:00'],
  ['1.2', '0 0 0 1 1 * 1970-2199/2', '2026-01-01 00:00:00', '2025-01-01 00:00:00'],
  ['1.3', '0 0 L * *', '2025-02-28 00:00', '2025-02-27 00:00'],
  ['1.3', '0 0 * * FRI#L', '2025-02-28 00:00', '2025-02-21 00:00'],
  ['1.3', '0 0 * * TUE#3', '2025-06-17 00:00', '2025-06-10 00:00'],
  ['1.3', '0 12 15W * *', '2025-06-16 12:00', '2025-06-15 12:00'],
  ['1.3', '0 12 1W * *', '2025-02-03 12:00', '2025-02-01 12:00'],
  ['1.4', '0 12 1 * MON', '2025-09-01 12:00,2025-09-08 12:00,2025-10-01 12:00', '2025-10-07 12:00'],
  ['1.4', '0 12 1 * +MON', '2025-09-01 12:00', '2025-09-08 12:00,2025-10-01 12:00'],
]

const ACCEPTED = [
  ['1.0', '* * 31 2 *'],
  ['1.1', '@reboot'],
  ['1.2', '15 10 * * *'],
  ['1.2', '30 15 10 * * *'],
  ['1.2', '0 15 10 * * * 2025'],
] as const

const REJECTED = [
  ['1.0', '60 0 * * *'],
  ['1.0', '0 0 10-5 * *'],
  ['1.0', '0 0 /30 * *'],
  ['1.1', '@Daily'],
  ['1.1', '@daily 0 0 * * *'],
  // Not portable; to be accepted only where a wider range of years is documented, which ours is not.
  ['1.2', '0 0 0 1 1 * 1969'],
  ['1.3', '0 12 1-15W * *'],
  ['1.4', '0 12 +1 * MON'],
  ['1.4', '? 12 * * *'],
] as const

/** The specification speaks of local time; a zone without clock changes and one with must agree on plain days. */
const ZONES = ['UTC', 'Europe/Berlin'] as const

function instantOf(local: string, zone: (typeof ZONES)[number]): Date {
  const wall = new Date(`${local.replace(' ', 'T')}Z`)
  if (zone === 'UTC') return wall
  const offset = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
    .formatToParts(wall)
    .find((part) => part.type === 'timeZoneName')!.value
  return new Date(`${local.replace(' ', 'T')}${offset.replace('GMT', '')}`)
}

describe.each(ZONES)('the vectors of the Open Cron Pattern Specification in %s', (timezone) => {
  it.each(MATCHES)('%s: "%s" matches %s and not %s', (_version, expression, matches, misses) => {
    const timing = parseCron(expression, { timezone })
    for (const local of matches.split(',')) expect(timing.matches(instantOf(local, timezone)), local).toBe(true)
    for (const local of misses.split(',')) expect(timing.matches(instantOf(local, timezone)), local).toBe(false)
  })
})

describe('the vectors of the Open Cron Pattern Specification', () => {
  it('1.1: "@daily" means what "0 0 * * *" means', () => {
    const from = new Date('2025-01-01T00:00:00Z')
    expect(parseCron('@daily').nextMany(from, 400)).toEqual(parseCron('0 0 * * *').nextMany(from, 400))
  })

  it.each(ACCEPTED)('%s: "%s" is read', (_version, expression) => {
    expect(() => parseCron(expression)).not.toThrow()
  })

  it('1.1: "@reboot" is refused with a reason where it would have to run', () => {
    expect(() => refuseNever(parseCron('@reboot'), 0)).toThrow(/restart of a machine is not/)
  })

  it.each(REJECTED)('%s: "%s" is refused', (_version, expression) => {
    expect(() => parseCron(expression)).toThrow(EverytickError)
  })
})
