/** `everytick explain`: prints the meaning and the warnings of a timing; the engine finds both. */
import type { FieldName } from '../../schedule/cron-field.ts'
import type { FieldView, Timing } from '../../schedule/timing.ts'
import { utcText } from '../instant-text.ts'
import { jsonText, printable, type View } from '../print.ts'
import { readTimingInput, type TimingOptions } from '../timing-input.ts'

const YEAR_MS = 365 * 86_400_000

export function explain(words: readonly string[], options: TimingOptions, view: View): string {
  const { timing, zone, from } = readTimingInput(words, options)
  const warnings = timing.warnings(new Date(from))
  const fires = warnings.find(({ code }) => code === 'FIRES_PER_YEAR')?.text ?? ''
  const cautions = warnings.filter(({ code }) => code !== 'FIRES_PER_YEAR')
  if (options.json) {
    const firesPerYear = timing.count(new Date(from), new Date(from + YEAR_MS))
    const listed = cautions.map(({ code, at, text }) => ({ code, at: at ? utcText(at.getTime()) : null, text }))
    const fields = Object.fromEntries(fieldsOf(timing))
    const { expression } = timing
    return `${jsonText({ expression, timezone: zone.name, when: timing.describe(), fields, firesPerYear, warnings: listed })}\n`
  }
  const { bold, dim, yellow } = view.colours
  const parts = fieldsOf(timing).map(([name, field]) => `${dim(name)} ${printable(fieldText(field))}`)
  const lines = [
    bold(printable(timing.describe())),
    [parts.join(' · '), fires].filter(Boolean).join(' '.repeat(10)),
    ...cautions.map(({ text }) => `${yellow('⚠')} ${printable(text)}`),
  ]
  return lines.map((line) => `  ${line}\n`).join('')
}

/** The fields of the expression: seconds only with six or seven fields, none for an interval. */
function fieldsOf(timing: Timing): [FieldName, FieldView][] {
  const six = timing.expression.trim().split(/\s+/).length > 5
  const fields = Object.entries(timing.fields) as [FieldName, FieldView][]
  return fields.filter(([name]) => six || name !== 'second')
}

/** `H` alone does not show when it fires, so print its values after it. */
function fieldText({ text, values }: FieldView): string {
  if (!/(^|,)H/i.test(text)) return text
  const shown = values.slice(0, 6).join(',')
  return `${text} (${shown}${values.length > 6 ? ',…' : ''})`
}
