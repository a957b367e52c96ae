/** What users type as a schedule: every option as it is read, and every refusal with its place. */
import { describe, expect, it } from 'vitest'
import { type DeclaredSchedule, defineJob, schedule } from '../../src/index.ts'

const job = defineJob({ name: 'tidy', run: () => {} })
const declared = (options: object): DeclaredSchedule =>
  schedule({ key: 'nightly', every: '1h', job, ...options } as Parameters<typeof schedule>[0])

/** The code and the words of a refusal, or undefined. */
function refusal(options: object): Record<string, unknown> | undefined {
  try {
    declared(options)
    return undefined
  } catch (error) {
    const { code, message, hint } = error as { code: string; message: string; hint: string }
    return { code, message, hint }
  }
}

describe('a schedule', () => {
  it.each([
    [{ cron: '0 25 * * *' }, 'CRON_RANGE', 'schedule "nightly": hour "25" is outside 0–23'],
    [{ cron: '0 0 30 2 *' }, 'CRON_NEVER', 'schedule "nightly"'],
    [{ cron: '0 0 0 1 1 * 2020' }, 'CRON_NEVER', 'schedule "nightly"'],
    [{ cron: '@reboot' }, 'CRON_MACRO', 'schedule "nightly": @reboot is not supported'],
    [{ cron: '@Daily' }, 'CRON_MACRO', 'schedule "nightly": macros are written in lower case'],
    [{ any: [{ every: '5m' }, { cron: '0 0 30 2 *' }] }, 'CRON_NEVER', 'schedule "nightly": any[1]'],
    [{ cron: '0 9 * * *', timezone: 'EST' }, 'TIMEZONE_UNKNOWN', 'EST'],
    [{ every: '50ms' }, 'DURATION_INVALID', '50ms'],
    [{ at: '2027-01-04 09:00' }, 'INSTANT_INVALID', 'schedule "nightly": at'],
    [{ at: new Date(8.64e15) }, 'INSTANT_INVALID', 'out of range'],
    [{}, 'OPTION_INVALID', '0 of cron, every and at'],
    [{ every: '5m', at: '2027-01-04T09:00:00Z' }, 'OPTION_INVALID', '2 of cron, every and at'],
    [{ every: '5m', timezone: 'Europe/Berlin' }, 'OPTION_INVALID', 'belong to cron'],
    [{ any: [{ every: '5m' }], cron: '* * * * *' }, 'OPTION_INVALID', '2 of cron, every, at and any'],
    [{ any: [{ every: '5m' }], timezone: 'UTC' }, 'OPTION_INVALID', 'belong to cron'],
    [{ any: [] }, 'OPTION_INVALID', 'any has 0 entries'],
    [{ any: Array(11).fill({ every: '5m' }) }, 'OPTION_INVALID', 'any has 11 entries'],
    [{ any: { every: '5m' } }, 'OPTION_INVALID', 'any must be a list'],
    [{ any: [{ every: '5m' }, '0 9 * * *'] }, 'OPTION_INVALID', 'any[1]'],
    [{ any: [{ every: '5m' }, {}] }, 'OPTION_INVALID', 'any[1] has 0 of cron, every and at'],
    [{ any: [{ every: '5m' }, { cron: '0 25 * * *' }] }, 'CRON_RANGE', 'schedule "nightly": any[1]: hour "25"'],
    [{ any: [{ every: '50ms' }] }, 'DURATION_INVALID', 'any[0]'],
    [{ any: [{ any: [] }] }, 'OPTION_UNKNOWN', '"any" is not an option of schedule "nightly": any[0]'],
    [
      { every: '5m', startAt: '2027-02-01T00:00:00Z', endAt: '2027-01-01T00:00:00Z' },
      'OPTION_INVALID',
      'before startAt',
    ],
  ])('with %j is refused with %s', (when, code, words) => {
    expect(refusal({ every: undefined, ...when })).toMatchObject({
      code,
      message: expect.stringContaining(words),
    })
  })

  it('keeps the canonical name of its zone', () => {
    const declared = schedule({ key: 'a', cron: '0 9 * * *', timezone: 'europe/berlin', job })
    expect(declared.timing).toEqual({ kind: 'cron', cron: '0 9 * * *', timezone: 'Europe/Berlin' })
  })

  it.each([
    ['2026-12-25', 'exclude must be a list'],
    [[7], 'exclude[0] cannot be 7'],
    [['2026-12-25', '2026-13-01'], 'exclude[1]'],
    [['2026-02-30'], 'exclude[0]'],
    [['2026-1-5'], 'exclude[0] cannot be "2026-1-5"'],
    [['2026-12-24/2026-12-20'], 'exclude[0] ends before it begins'],
    [['2026-12-24/2026-12-26/2026-12-28'], 'exclude[0]'],
    [['0 25 * * *'], 'exclude[0]: hour "25"'],
    [['@every 5m'], 'exclude[0] is an interval'],
    [['@reboot'], 'exclude[0]: @reboot is not supported'],
    [['0 0 30 2 *'], 'exclude[0]: "0 0 30 2 *" has no fire'],
    [[{ cron: '0 9 * * *', timezone: 'EST' }], 'exclude[0]'],
    [[{ cron: '0 9 * * *', tz: 'UTC' }], '"tz" is not an option of schedule "nightly": exclude[0]'],
    [[{ from: '2026-12-24T00:00:00Z' }], 'exclude[0].to'],
    [[{ from: '2026-12-24T00:00:00Z', to: '2026-12-24T00:00:00Z' }], 'exclude[0] ends before it begins'],
    [Array(101).fill('2026-12-25'), 'exclude has 101 entries'],
  ])('that leaves out %j is refused, with the place', (exclude, words) => {
    const found = refusal({ exclude })
    expect(found).toMatchObject({ message: expect.stringContaining('schedule "nightly"'), hint: expect.anything() })
    expect(found!.message).toContain(words)
  })

  it.each<[object, string]>([
    [{ cron: '0 9 * * *', exclude: ['0 9 * * *'] }, 'change exclude'],
    [{ cron: '0 9 * * 1', exclude: ['* * * * 1'] }, 'change exclude'],
    [{ every: '1s', exclude: ['* * * * *'] }, 'change exclude'],
    [{ at: '2027-01-04T09:00:00Z', exclude: ['2027-01-04'] }, 'change exclude'],
    [{ at: '2027-01-04T09:00:00Z', endAt: '2027-01-04T08:00:00Z' }, 'change endAt'],
    [{ at: '2027-01-04T09:00:00Z', startAt: '2027-01-04T10:00:00Z' }, 'change startAt'],
    [{ every: '1d', startAt: '2027-01-01T01:00:00Z', endAt: '2027-01-01T02:00:00Z' }, 'change startAt or endAt'],
    [{ cron: '0 0 29 2 *', startAt: '2029-01-01T00:00:00Z', endAt: '2031-01-01T00:00:00Z' }, 'change startAt or endAt'],
    [{ any: [{ every: '1d' }, { every: '2d' }], exclude: ['0 0 * * *'] }, 'change exclude'],
  ])('whose bounds leave nothing, as %j, is refused', (when, hint) => {
    expect(refusal({ every: undefined, ...when })).toMatchObject({
      code: 'CRON_NEVER',
      message: expect.stringContaining('schedule "nightly"'),
      hint: expect.stringContaining(hint),
    })
  })

  it.each<[string, object]>([
    ['an end that has passed', { every: '1d', endAt: '2020-01-01T00:00:00Z' }],
    ['a single instant that has passed', { at: '2020-01-01T00:00:00Z', endAt: '2020-06-01T00:00:00Z' }],
    ['a span that has passed', { every: '1h', startAt: '2020-01-01T00:00:00Z', endAt: '2020-02-01T00:00:00Z' }],
    ['years left out that are over', { every: '1d', exclude: ['* * * 24 12 * 2020'] }],
    ['all of a month but one day left out', { every: '1s', exclude: ['* * 1-30 * *'] }],
    ['a single instant with a number of runs', { at: '2027-01-04T09:00:00Z', maxRuns: 1 }],
  ])('with %s is accepted: code goes on declaring what is over', (_, when) => {
    expect(refusal({ every: undefined, ...when })).toBeUndefined()
  })

  it.each<[unknown, object | null]>([
    [undefined, null],
    ['none', null],
    ['0s', null],
    ['0%', null],
    ['5m', { max: { ms: 300_000 }, per: 'schedule' }],
    [1500, { max: { ms: 1500 }, per: 'schedule' }],
    ['10%', { max: { share: 0.1 }, per: 'schedule' }],
    ['7.25%', { max: { share: 0.0725 }, per: 'schedule' }],
    ['100%', { max: { share: 1 }, per: 'schedule' }],
    [{ max: '5m' }, { max: { ms: 300_000 }, per: 'schedule' }],
    [
      { max: '10%', per: 'occurrence' },
      { max: { share: 0.1 }, per: 'occurrence' },
    ],
    [{ max: 'none', per: 'occurrence' }, null],
  ])('reads the jitter %j', (jitter, read) => {
    expect(declared({ jitter }).firing.jitter).toEqual(read)
  })

  it.each(['skip', 'queue', 'queue_one', 'cancel_previous', 'allow'] as const)('reads the overlap %s', (overlap) => {
    expect(declared({ overlap }).firing).toEqual({ overlap, jitter: null, maxRuns: null, concurrencyKey: null })
  })

  it('skips by default, and has no jitter, no end and no key', () => {
    expect(declared({}).firing).toEqual({ overlap: 'skip', jitter: null, maxRuns: null, concurrencyKey: null })
    expect(declared({ maxRuns: 5, concurrencyKey: 'crm' }).firing).toMatchObject({ maxRuns: 5, concurrencyKey: 'crm' })
  })

  const zone = { timezone: 'Europe/Berlin' }
  const span = (from: string, to: string): object => ({ kind: 'range', fromAt: Date.parse(from), toAt: Date.parse(to) })
  it.each<[unknown, object]>([
    ['2026-12-25', { kind: 'date', date: '2026-12-25', ...zone }],
    ['2026-12-24/2027-01-02', span('2026-12-23T23:00:00Z', '2027-01-02T23:00:00Z')],
    ['2027-03-28/2027-03-28', span('2027-03-27T23:00:00Z', '2027-03-28T22:00:00Z')],
    ['0 9 * * 1', { kind: 'cron', cron: '0 9 * * 1', ...zone }],
    [{ cron: '0 9 * * 1' }, { kind: 'cron', cron: '0 9 * * 1', ...zone }],
    [
      { cron: '0 9 * * 1', timezone: 'utc' },
      { kind: 'cron', cron: '0 9 * * 1', timezone: 'UTC' },
    ],
    [
      { from: '2027-01-01T10:00:00Z', to: new Date('2027-01-01T12:00:00Z') },
      span('2027-01-01T10:00:00Z', '2027-01-01T12:00:00Z'),
    ],
    [{ from: '2026-12-24', to: '2027-01-02' }, span('2026-12-23T23:00:00Z', '2027-01-02T23:00:00Z')],
  ])('leaves out %j in its own zone', (exclude, read) => {
    const { timing } = declared({ every: undefined, cron: '0 8 * * *', ...zone, exclude: [exclude] })
    expect(timing.exclude).toEqual([read])
  })

  it('without a zone means dates in UTC, and several rules mean the zone they share', () => {
    const date = (when: object): unknown =>
      declared({ every: undefined, exclude: ['2026-12-25'], ...when }).timing.exclude
    const inZone = (timezone: string): unknown => [{ kind: 'date', date: '2026-12-25', timezone }]
    expect(date({ every: '1h' })).toEqual(inZone('UTC'))
    const nine = { cron: '0 9 * * *', ...zone }
    expect(date({ any: [nine, { every: '1h' }] })).toEqual(inZone('Europe/Berlin'))
    expect(date({ any: [nine, { cron: '0 9 * * *' }] })).toEqual(inZone('UTC'))
  })

  it('reads several timings, and its bounds', () => {
    const any = [{ cron: '0 9 * * *', ...zone, dst: { gap: 'skip' } }, { every: '90m' }, { at: '2027-01-04T09:00:00Z' }]
    const bounds = { startAt: '2027-01-01T00:00:00Z', endAt: new Date('2028-01-01T00:00:00Z') }
    expect(declared({ every: undefined, any, ...bounds, exclude: [] }).timing).toEqual({
      kind: 'any',
      of: [
        { kind: 'cron', cron: '0 9 * * *', ...zone, dst: { gap: 'skip' } },
        { kind: 'interval', everyMs: 5_400_000, anchorAt: 0 },
        { kind: 'once', at: Date.parse('2027-01-04T09:00:00Z') },
      ],
      startAt: Date.parse('2027-01-01T00:00:00Z'),
      endAt: Date.parse('2028-01-01T00:00:00Z'),
    })
  })
})
