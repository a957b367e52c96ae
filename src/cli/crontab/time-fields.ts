/** Turns the time of a crontab line into a rule of ours that fires at the same instants, or refuses it; the grammar itself is `schedule/`. */
import { EverytickError } from '../../errors.ts'
import { parseCron } from '../../schedule/cron.ts'
import { FIELD_SPECS, type FieldSpec } from '../../schedule/cron-field.ts'
import { refuseNever } from '../../schedule/never.ts'
import { systemClock } from '../../time/clock.ts'
import { formatDuration } from '../../time/duration.ts'
import { intervalFields } from './interval-fields.ts'

export type Rule =
  | { readonly cron: string; readonly timezone: string }
  /** An interval that no cron fields can say. */
  | { readonly every: string }

export interface Place {
  readonly zone: string
  /** What a random value is derived from, so that it stays the same whenever the file is read. */
  readonly seed: string
}

const SPECS = FIELD_SPECS.slice(1, 6)

export function readTime(time: string, { zone, seed }: Place): Rule {
  if (/^@\d/.test(time)) throw refused('CRON_MACRO', `${time} counts from the end of the run before`, 'write @every 5m')
  const cron = time.startsWith('@') ? time : time.split(/\s+/).map(translated).join(' ')
  const timing = parseCron(cron, { timezone: zone, seed })
  refuseNever(timing, systemClock.now())
  if (timing.kind !== 'interval') return { cron: chosen(cron, timing.fields), timezone: timing.timezone }
  const fields = intervalFields(timing.intervalMs)
  return fields === null ? { every: formatDuration(timing.intervalMs) } : { cron: fields, timezone: 'UTC' }
}

const translated = (field: string, i: number): string =>
  field
    .split(',')
    .map((item) => itemOf(item, SPECS[i]!))
    .join(',')

function itemOf(item: string, spec: FieldSpec): string {
  if (item.includes('?'))
    throw refused('CRON_SYNTAX', `"?" in ${spec.label} means another thing in every cron`, 'write * or a number')
  if (item.includes('~')) return randomItem(item, spec)
  const [, head = '', step = ''] = /^([^/]*)\/(\d{1,9})$/.exec(item) ?? []
  if (step === '') return item
  if (head !== '*' && !head.includes('-')) throw ambiguous({ item, head, step }, spec)
  // Cron takes steps beyond the end of the field, and then stays with the first value.
  if (Number(step) <= spec.lastStep - spec.min) return `${head}/${Number(step)}`
  // Of a day field the star also says that a day must match both: such a step is left to be refused.
  if (spec.name === 'day' || spec.name === 'weekday') return item
  return head === '*' ? String(spec.min) : head.split('-')[0]!
}

function ambiguous(
  { item, head, step }: { readonly item: string; readonly head: string; readonly step: string },
  { label, lastStep }: FieldSpec,
): EverytickError {
  const message = `${label} "${item.slice(0, 20)}" is a step from a single value, which some crons refuse and others read as "${head}"`
  return refused('CRON_SYNTAX', message, `write ${head}-${lastStep}/${step}, or ${head}`)
}

/** `a~b` of cronie and OpenBSD: one value between the two, or every so many from one of them. */
function randomItem(item: string, spec: FieldSpec): string {
  const [whole, low = '', high = '', step = ''] = /^(\w*)~(\w*)(\/\d{1,9})?$/.exec(item) ?? []
  if (whole === undefined)
    throw refused('CRON_SYNTAX', `${spec.label} cannot contain "${item.slice(0, 20)}"`, 'a random value is 10~20')
  return `H(${low || spec.min}-${high || spec.lastHash})${step}`
}

/** Cron chooses when it reads the file, we do it here: what is stored says when it fires. */
function chosen(
  cron: string,
  fields: Readonly<Record<string, { readonly text: string; readonly values: readonly (number | string)[] }>>,
): string {
  if (!cron.includes('H(')) return cron
  return SPECS.map(({ name }) => {
    const { text, values } = fields[name]!
    return text.includes('H(') ? values.join(',') : text
  }).join(' ')
}

const refused = (code: 'CRON_SYNTAX' | 'CRON_MACRO', message: string, hint: string): EverytickError =>
  new EverytickError(code, message, { hint })
