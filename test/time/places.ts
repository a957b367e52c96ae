/** Generators of zones, clock-change rules and instants from 1970 to 2100, drawn towards the clock changes of each zone. */
import fc from 'fast-check'
import { timeZone, zoneNames } from '../../src/schedule/time-zone.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const EPOCH_1970 = Date.UTC(1970, 0, 3)
const EPOCH_2100 = Date.UTC(2099, 11, 28)

export interface Dst {
  gap?: 'shift' | 'skip'
  fold?: 'first' | 'second' | 'both'
}
export const dst: fc.Arbitrary<Dst> = fc.record(
  { gap: fc.constantFrom('shift', 'skip'), fold: fc.constantFrom('first', 'second', 'both') },
  { requiredKeys: [] },
)

export interface Place {
  readonly timezone: string
  readonly instant: number
}

/** Clocks that did something other than an hour at a time: half hours, two, three and seven hours, whole days, odd seconds. */
const REMARKABLE = [
  'Africa/Monrovia',
  'Antarctica/Casey',
  'Antarctica/Troll',
  'Antarctica/Vostok',
  'Asia/Pyongyang',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Pacific/Kwajalein',
]
const remarkable = REMARKABLE.flatMap((timezone) => {
  const { at, offset } = timeZone(timezone)
  const odd = [...at].filter((change, index) => {
    if (index === 0 || change < EPOCH_1970 || change > EPOCH_2100) return false
    return Math.abs(offset[index]! - offset[index - 1]!) !== HOUR
  })
  // Lord Howe and Troll do so twice a year; a few of theirs are enough.
  return odd.slice(-12).map((change) => ({ timezone, change }))
})

const aroundChange = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -2 * DAY, max: 2 * DAY }) },
  { weight: 3, arbitrary: fc.integer({ min: -4 * 60, max: 4 * 60 }).map((minutes) => minutes * 60_000) },
  { weight: 1, arbitrary: fc.constantFrom(-1000, -1, 0, 1, 1000) },
)
const anyInstant = fc.integer({ min: EPOCH_1970 / 1000, max: EPOCH_2100 / 1000 }).map((seconds) => seconds * 1000)

const inAnyZone: fc.Arbitrary<Place> = fc.constantFrom(...zoneNames()).chain((timezone) => {
  const changes = [...timeZone(timezone).at].filter((at) => at > EPOCH_1970 && at < EPOCH_2100)
  if (changes.length === 0) return anyInstant.map((instant) => ({ timezone, instant }))
  const near = fc.tuple(fc.constantFrom(...changes), aroundChange).map(([at, off]) => at + off)
  return fc
    .oneof({ weight: 4, arbitrary: near }, { weight: 1, arbitrary: anyInstant })
    .map((instant) => ({ timezone, instant }))
})

/** A zone and an instant in it, mostly within two days of one of its own clock changes, at times to the very millisecond. */
export const place: fc.Arbitrary<Place> = fc.oneof(
  { weight: 5, arbitrary: inAnyZone },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...remarkable), aroundChange)
      .map(([{ timezone, change }, off]) => ({ timezone, instant: change + off })),
  },
)
