/** Generators over the whole cron grammar; where and when they are asked is `places.ts`, what must hold is the tests' matter. */
import fc from 'fast-check'

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

type Text = fc.Arbitrary<string>

/** What a field allows, and how its numbers may be spelled. */
interface FieldShape {
  readonly low: number
  readonly high: number
  /** The largest step that reaches a second value. */
  readonly step?: number
  readonly spell?: (value: number) => Text
}

const anyCase = (name: string): Text =>
  fc.constantFrom(name, name.toLowerCase(), name.charAt(0) + name.slice(1).toLowerCase())
const named =
  (names: readonly string[], base: number) =>
  (value: number): Text => {
    const name = names[(value - base) % names.length]!
    return fc.oneof(fc.constant(String(value)), anyCase(name))
  }
const SHAPES = {
  second: { low: 0, high: 59 },
  minute: { low: 0, high: 59 },
  hour: { low: 0, high: 23 },
  dayOfMonth: { low: 1, high: 31 },
  month: { low: 1, high: 12, spell: named(MONTHS, 1) },
  weekday: { low: 0, high: 7, step: 6, spell: named(WEEKDAYS, 0) },
} as const satisfies Record<string, FieldShape>

const spelled = (shape: FieldShape, value: number): Text =>
  shape.spell?.(value) ??
  fc.oneof({ weight: 9, arbitrary: fc.constant(String(value)) }, fc.constant(`0${value}`.slice(-2)))

const mostStep = ({ low, high, step = high - low }: FieldShape): number => step

/** A number, a range or a stepped one of them. */
function item(shape: FieldShape): Text {
  const number = fc.integer({ min: shape.low, max: shape.high })
  const step = fc.integer({ min: 1, max: mostStep(shape) })
  const single = number.chain((value) => spelled(shape, value))
  const range = fc
    .tuple(number, number)
    .chain(([a, b]) => fc.tuple(spelled(shape, Math.min(a, b)), spelled(shape, Math.max(a, b))))
    .map((ends) => ends.join('-'))
    // Whether these mean one day or seven is nobody's rule: left to the refusals.
    .filter((text) => !/^(0|7|sun)-sun$/i.test(text) && !/^sun-(0|7)$/i.test(text))
  return fc.oneof(
    { weight: 6, arbitrary: single },
    { weight: 3, arbitrary: range },
    { weight: 2, arbitrary: fc.tuple(range, step).map((parts) => parts.join('/')) },
    // What 7/2 counts up to is nobody's rule either.
    {
      weight: 1,
      arbitrary: fc
        .tuple(single, step)
        .filter(([from]) => from !== '7')
        .map((parts) => parts.join('/')),
    },
  )
}

const list = (of: Text): Text =>
  fc
    .oneof(
      { weight: 6, arbitrary: fc.array(of, { minLength: 1, maxLength: 1 }) },
      { weight: 3, arbitrary: fc.array(of, { minLength: 2, maxLength: 4 }) },
      { weight: 1, arbitrary: fc.array(of, { minLength: 5, maxLength: 9 }) },
    )
    .map((items) => items.join(','))

const stars = (shape: FieldShape): Text =>
  fc.oneof(
    { weight: 2, arbitrary: fc.constant('*') },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: mostStep(shape) }).map((step) => `*/${step}`) },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom('*', '*/2', '*/6'), item(shape)).map((parts) => parts.join(',')) },
    { weight: 1, arbitrary: item(shape).map((first) => `${first},*/5`) },
  )

function field(shape: FieldShape, starWeight: number): Text {
  return fc.oneof({ weight: starWeight, arbitrary: stars(shape) }, { weight: 10, arbitrary: list(item(shape)) })
}

const dayOfMonthSpecial = fc.oneof(
  fc.constantFrom('L', 'LW', '31W', '1W', '30W', '29W', 'l', 'lw', '15w'),
  fc.integer({ min: 1, max: 30 }).map((before) => `L-${before}`),
  fc.integer({ min: 0, max: 30 }).map((before) => `L-${before}W`),
  fc.integer({ min: 1, max: 31 }).map((day) => `${day}W`),
)
const weekdaySpecial = fc
  .integer({ min: 0, max: 7 })
  .chain((day) => spelled(SHAPES.weekday, day))
  .chain((day) =>
    fc.oneof(
      fc.constant(`${day}L`),
      fc.constant(`${day}#L`),
      fc.integer({ min: 1, max: 5 }).map((nth) => `${day}#${nth}`),
    ),
  )

const dayOfMonth = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom('*', '*', '*', '?') },
  { weight: 8, arbitrary: field(SHAPES.dayOfMonth, 2) },
  { weight: 4, arbitrary: dayOfMonthSpecial },
  { weight: 2, arbitrary: list(fc.oneof(dayOfMonthSpecial, item(SHAPES.dayOfMonth))) },
)
const chosenWeekday = fc.oneof(
  { weight: 8, arbitrary: field(SHAPES.weekday, 2) },
  { weight: 4, arbitrary: weekdaySpecial },
  { weight: 2, arbitrary: list(fc.oneof(weekdaySpecial, item(SHAPES.weekday))) },
)
const weekday = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom('*', '*', '*', '?') },
  { weight: 12, arbitrary: chosenWeekday },
  { weight: 2, arbitrary: chosenWeekday.map((text) => `+${text}`) },
)
const month = fc.oneof({ weight: 4, arbitrary: fc.constant('*') }, { weight: 1, arbitrary: field(SHAPES.month, 3) })
/** Clock changes happen at night, so the hours of the night come up more often. */
const hour = fc.oneof(
  { weight: 3, arbitrary: list(fc.integer({ min: 0, max: 3 }).map(String)) },
  { weight: 1, arbitrary: fc.constantFrom('0-3', '1-2', '23', '23,0', '0-23', '0-23/2', '*') },
  { weight: 3, arbitrary: field(SHAPES.hour, 4) },
)
const calendar = [hour, dayOfMonth, month, weekday] as const
const joined = (...fields: Text[]): Text =>
  fc
    .tuple(fc.tuple(...fields), fc.constantFrom(' ', ' ', ' ', ' ', '  ', '\t'))
    .map(([parts, blank]) => parts.join(blank))
    .filter((expression) => expression.length <= 256)

const macro = fc.constantFrom(
  '@yearly',
  '@annually',
  '@monthly',
  '@weekly',
  '@daily',
  '@midnight',
  '@hourly',
  '@every_minute',
)

/** Five fields or a macro: nothing finer than a minute. */
export const minuteExpression: Text = fc.oneof(
  { weight: 30, arbitrary: joined(field(SHAPES.minute, 3), ...calendar) },
  { weight: 1, arbitrary: macro },
)
export const secondExpression: Text = joined(field(SHAPES.second, 2), field(SHAPES.minute, 3), ...calendar)
/** Days that are hard to meet: short months, late days, special days, and weekdays that must agree with them. */
export const rareExpression: Text = joined(
  fc.constant('0'),
  fc.constant('0'),
  fc.oneof(
    fc.constantFrom('29', '30', '31', '29W', '30W', '31W', 'L', 'LW', 'L-28W', '*', '*/29', '*/30', '?'),
    dayOfMonthSpecial,
  ),
  fc.oneof(fc.constantFrom('2', 'FEB', '2,4', '4,6,9,11', '2/11', '*'), month),
  fc.oneof(fc.constantFrom('*', '*', '*/6', '*/4', '?', '+6'), weekdaySpecial),
)

const year = fc.integer({ min: 1970, max: 2199 })
const span = fc
  .tuple(year, fc.integer({ min: 0, max: 60 }))
  .map(([from, more]) => `${from}-${Math.min(2199, from + more)}`)
const yearStep = fc.integer({ min: 1, max: 229 })
const yearItem = fc.oneof(
  year.map(String),
  span,
  fc.tuple(fc.oneof(span, year.map(String), fc.constant('1970-2199')), yearStep).map((parts) => parts.join('/')),
)
/** Seven fields: a minute of a day in the years listed. */
export const yearExpression: Text = joined(
  fc.constantFrom('0', '30'),
  fc.constantFrom('0', '30', '*/30'),
  ...calendar,
  fc.oneof(
    fc.constant('*'),
    fc.integer({ min: 1, max: 4 }).map((step) => `*/${step}`),
    list(yearItem),
  ),
)

const hashed = (shape: FieldShape, plain: Text): Text => {
  const step = fc.integer({ min: 2, max: Math.max(2, Math.floor((shape.high - shape.low) / 2)) })
  const range = fc
    .tuple(fc.integer({ min: shape.low, max: shape.high }), fc.integer({ min: shape.low, max: shape.high }))
    .map(([a, b]) => `H(${Math.min(a, b)}-${Math.max(a, b)})`)
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant('H') },
    { weight: 1, arbitrary: step.map((by) => `H/${by}`) },
    { weight: 1, arbitrary: range },
    { weight: 1, arbitrary: fc.tuple(range, step).map((parts) => parts.join('/')) },
    { weight: 2, arbitrary: plain },
  )
}
/** Expressions whose H fields are settled by a seed. */
export const hashExpression: Text = fc
  .oneof(
    joined(
      hashed(SHAPES.minute, field(SHAPES.minute, 3)),
      hashed(SHAPES.hour, hour),
      hashed({ low: 1, high: 28 }, dayOfMonth),
      hashed(SHAPES.month, month),
      hashed({ low: 0, high: 6 }, weekday),
    ),
    joined(hashed(SHAPES.second, field(SHAPES.second, 2)), hashed(SHAPES.minute, field(SHAPES.minute, 3)), ...calendar),
  )
  .filter((expression) => /(^|\s)H/.test(expression))
export const anyExpression: Text = fc.oneof(
  { weight: 6, arbitrary: minuteExpression },
  { weight: 3, arbitrary: secondExpression },
  { weight: 1, arbitrary: hashExpression },
  { weight: 2, arbitrary: yearExpression },
)
