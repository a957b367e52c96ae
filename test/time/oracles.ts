/** Two other cron libraries behind one question each, and the part of the grammar they share with us; who is right is the test's matter. */
import { CronExpressionParser } from 'cron-parser'
import { Cron } from 'croner'
import fc from 'fast-check'

export type Direction = 'next' | 'prev'
export interface Question {
  readonly cron: string
  readonly zone: string
  readonly asked: string
  readonly direction: Direction
}
export type Oracle = (question: Question, count: number) => (Date | undefined)[]

export const croner: Oracle = ({ cron, zone, asked, direction }, count) => {
  const job = new Cron(cron, { timezone: zone, paused: true })
  return direction === 'next' ? job.nextRuns(count, new Date(asked)) : job.previousRuns(count, new Date(asked))
}

export const cronParser: Oracle = ({ cron, zone, asked, direction }, count) => {
  const walk = CronExpressionParser.parse(cron, { tz: zone, currentDate: new Date(asked) })
  return Array.from({ length: count }, () => walk[direction]().toDate())
}

interface Bounds {
  readonly min: number
  readonly max: number
}
const number = ({ min, max }: Bounds): fc.Arbitrary<string> => fc.integer({ min, max }).map(String)
/** No value twice in a list: cron-parser takes that for a mistake. */
const list = (bounds: Bounds): fc.Arbitrary<string> =>
  fc.uniqueArray(fc.integer(bounds), { minLength: 1, maxLength: 4 }).map((values) => values.join(','))
const range = (bounds: Bounds): fc.Arbitrary<string> =>
  fc.tuple(fc.integer(bounds), fc.integer(bounds)).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`)
const step = ({ min, max }: Bounds): fc.Arbitrary<string> => fc.integer({ min: 1, max: max - min }).map(String)
const plain = (bounds: Bounds): fc.Arbitrary<string> =>
  fc.oneof(
    number(bounds),
    list(bounds),
    range(bounds),
    fc.tuple(range(bounds), step(bounds)).map((parts) => parts.join('/')),
  )
const starry = (bounds: Bounds): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 3, arbitrary: plain(bounds) },
    { weight: 1, arbitrary: fc.constant('*') },
    { weight: 1, arbitrary: step(bounds).map((by) => `*/${by}`) },
  )
const MINUTES = { min: 0, max: 59 }
const HOURS = { min: 0, max: 23 }
const month = fc.oneof(
  { weight: 3, arbitrary: fc.constant('*') },
  { weight: 1, arbitrary: fc.oneof(plain({ min: 1, max: 12 }), fc.constantFrom('JAN', 'feb', 'Mar-MAY')) },
)
const dayOfMonth = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('*', '?') },
  { weight: 2, arbitrary: plain({ min: 1, max: 31 }) },
  { weight: 1, arbitrary: fc.constant('L') },
)
const weekday = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('*', '?') },
  { weight: 2, arbitrary: plain({ min: 0, max: 6 }) },
  { weight: 1, arbitrary: fc.constantFrom('5L', '0L', '1#1', '3#2', '0#5', 'MON-FRI', 'sat', '7') },
)
const spaced = (...fields: fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
  fc.tuple(...fields).map((parts) => parts.join(' '))

/** What both libraries and we read alike. */
export const sharedExpression: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: spaced(starry(MINUTES), starry(HOURS), dayOfMonth, month, weekday) },
  { weight: 1, arbitrary: spaced(starry(MINUTES), starry(MINUTES), starry(HOURS), dayOfMonth, month, weekday) },
)
/** The same and working days, which only croner knows. */
export const cronerExpression: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: sharedExpression },
  {
    weight: 1,
    arbitrary: spaced(number(MINUTES), number(HOURS), fc.constantFrom('LW', '15W', '1W', '30W', '31W'), month, weekday),
  },
)
/** One time a day, or a wildcard: what croner also gets right on the night of a change. */
export const nightExpression: fc.Arbitrary<string> = fc.oneof(
  spaced(number(MINUTES), number({ min: 0, max: 4 }), fc.constant('*'), fc.constant('*'), weekday),
  spaced(
    fc.constantFrom('*', '*/5', '*/15', '*/20', '*/30', '0', '17'),
    fc.constantFrom('*', '*/2', '*/3'),
    fc.constant('*'),
    fc.constant('*'),
    weekday,
  ),
)
