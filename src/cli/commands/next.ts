/** `everytick next`: prints the next occurrences of one timing. */
import { EverytickError } from '../../errors.ts'
import { distanceText, nominalTexts, utcText } from '../instant-text.ts'
import { jsonText, rowsText, type View } from '../print.ts'
import { LAST_INSTANT, readTimingInput, type TimingOptions } from '../timing-input.ts'

export interface NextOptions extends TimingOptions {
  readonly count: string
}

const MAX_COUNT = 1000

export function next(words: readonly string[], options: NextOptions, view: View): string {
  const count = readCount(options.count)
  const { timing, zone, from } = readTimingInput(words, options)
  const instants = timing
    .nextMany(new Date(from), count)
    .map((date) => date.getTime())
    .filter((at) => at <= LAST_INSTANT)
  if (options.json) return `${jsonText(instants.map(utcText))}\n`
  const nominal = nominalTexts(instants, zone)
  const rows = instants.map((at, i) => [nominal[i]!, utcText(at), distanceText(at - from)])
  return rowsText([`NOMINAL (${zone.name})`, 'UTC', 'IN'], rows, view)
}

export function readCount(text: string): number {
  const count = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (count >= 1 && count <= MAX_COUNT) return count
  throw new EverytickError(
    'OPTION_INVALID',
    `-n takes a whole number from 1 to ${MAX_COUNT}, not ${JSON.stringify(text)}`,
  )
}
