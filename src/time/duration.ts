/** Reads durations such as `5m` or `1h30m` into milliseconds and writes them back; what a duration is for is the caller's matter. */
import { EverytickError, shown } from '../errors.ts'

const UNITS: readonly (readonly [unit: string, ms: number])[] = [
  ['w', 604_800_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
]
const HINT = 'write it like 90s, 5m, 1h30m, 2d or 1w'
/** A hundred years: longer than any schedule, and far below what a Date can hold. */
const MAX_MS = 100 * 366 * 86_400_000

/** Parts of a number and a unit, each unit at most once and from large to small. */
export function parseDuration(text: string): number {
  if (typeof text !== 'string' || text.length === 0 || text.length > 40) throw refused(text)
  let total = 0
  let smallest = -1
  let at = 0
  while (at < text.length) {
    const number = digits(text, at)
    at += number.length
    const unit = letters(text, at)
    at += unit.length
    const rank = UNITS.findIndex(([name]) => name === unit)
    if (number === '' || rank <= smallest) throw refused(text)
    smallest = rank
    total += Number(number) * UNITS[rank]![1]
  }
  if (!(total <= MAX_MS) || !Number.isInteger(total)) throw refused(text)
  return total
}

/** The shortest text that `parseDuration` reads back as the same duration. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0s'
  let rest = ms
  let text = ''
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size)
    // Weeks only when nothing is left over: 8d reads better than 1w1d.
    if (count === 0 || (unit === 'w' && rest % size !== 0)) continue
    text += `${count}${unit}`
    rest -= count * size
  }
  return text
}

const digits = (text: string, from: number): string => /^\d{1,15}(\.\d{1,3})?/.exec(text.slice(from))?.[0] ?? ''
const letters = (text: string, from: number): string => /^[a-z]{1,2}/.exec(text.slice(from))?.[0] ?? ''

function refused(text: unknown): EverytickError {
  return new EverytickError('DURATION_INVALID', `${shown(text)} is not a duration`, { hint: HINT })
}
