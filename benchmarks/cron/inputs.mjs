/** The expressions and instants that are asked about; random, but the same in every run. */
import { randomFrom } from '../harness.mjs'

const DAY_MS = 86_400_000

/** Instants from 2020 to 2039, in no order. */
export function randomDates(count) {
  const random = randomFrom(20_261_115)
  const from = Date.UTC(2020, 0, 1)
  return Array.from({ length: count }, () => new Date(from + Math.floor(random() * 20 * 365 * DAY_MS)))
}

/** Different expressions such as people write, in the grammar all three engines share. */
export function commonExpressions(count) {
  const random = randomFrom(7)
  const up = (limit) => Math.floor(random() * limit)
  const shapes = [
    () => `${up(60)} ${up(24)} * * *`,
    () => `${up(60)} ${up(24)} * * ${up(7)}`,
    () => `${up(60)} ${up(24)} ${1 + up(28)} * *`,
    () => `${up(60)} ${up(24)} ${1 + up(28)} ${1 + up(12)} *`,
    () => `${up(60)} ${up(12)}-${12 + up(12)} * * 1-5`,
    () => `*/${1 + up(30)} ${up(12)}-${12 + up(12)}/${1 + up(4)} * * ${up(7)}`,
    () => `${up(30)},${30 + up(30)} ${up(12)},${12 + up(12)} * ${1 + up(12)} MON-FRI`,
    () => `${up(20)}-${20 + up(40)}/${1 + up(10)} ${up(24)} ${1 + up(14)}-${15 + up(14)} * *`,
  ]
  const found = new Set()
  while (found.size < count) found.add(shapes[up(shapes.length)]())
  return [...found]
}

/** Expressions made to be slow: rare days, rare seconds, conditions that almost never or never meet. */
export function hardExpressions(count) {
  const random = randomFrom(99)
  const pick = (choices) => choices[Math.floor(random() * choices.length)]
  const small = ['0', '59', '*', '*/59', '7-9', '3,17,58', 'H']
  const hours = ['0', '2', '23', '*', '*/23', '1-3', 'H']
  const days = ['*', '29', '30', '31', 'L', 'L-30', 'L-28', '29W', '31W', '1W', 'LW', 'L-3W', '*/29', '29-31', 'H']
  const months = ['*', '2', '2,4', '1', '12', '*/11', 'FEB', '6-7']
  const weekdays = ['*', '0', '5L', '1#5', '0#5', '+0#5', '*/6', 'MON-FRI', '3#1', 'H']
  const known = [
    '0 0 29 2 *',
    '0 0 29 2 +0',
    '0 0 30 2 *',
    '0 0 0 29 2 */6 1970-2199/2',
    '0 0 29 2 */6',
    '59 59 23 31 12 *',
    '0 0 31W 12 *',
    '0 0 */29 2 0',
    '0 0 29 2 +0#5',
  ]
  const made = Array.from({ length: count }, () => {
    const fields = [pick(small), pick(hours), pick(days), pick(months), pick(weekdays)]
    return (random() < 0.5 ? [pick(small), ...fields] : fields).join(' ')
  })
  return [...new Set([...known, ...made])]
}

/** Instants near and far, among them the ends of what a Date can hold. */
export function hardInstants(count) {
  const random = randomFrom(3)
  const edges = [
    0,
    -1,
    Date.UTC(1896, 1, 29),
    Date.UTC(2096, 1, 29),
    Date.UTC(2100, 1, 28),
    Date.UTC(9999, 11, 31),
    8.64e15,
    -8.64e15,
  ]
  const near = Array.from({ length: count }, () => Math.floor(random() * 131 * 365.25 * DAY_MS))
  return [...edges, ...near].map((at) => new Date(at))
}
