/** Turns the time of a crontab line into one of our rules that fires at the same instants, or rejects it; `schedule/` defines the grammar. */
import { EverytickError } from '../../errors.ts'
import { parseCron } from '../../schedule/cron.ts'
import { FIELD_SPECS, type FieldSpec } from '../../schedule/cron-field.ts'
import { refuseNever } from '../../schedule/never.ts'
import { systemClock } from '../../time/clock.ts'
import { formatDuration } from '../../time/duration.ts'
import { intervalFields } from './interval-fields.ts'

export type Rule =
  | { readonly cron: string; readonly timezone: string }
  /** An interval that cron fields cannot express. */
  | { readonly every: string }

export interface Place {
  readonly zone: string
  /** The seed of a random value, so that every import of the file gives the same value. */
  readonly seed: string
}

const SPECS = FIELD_SPECS.slice(1, 6)

export function readTime(time: string, { zone, seed }: Place): Rule {
  if (/^@\d/.test(time))
    throw refused('CRON_MACRO', `${time} counts from the end of the previous run`, 'write @every 5m')
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
    throw refused('CRON_SYNTAX', `"?" in ${spec.label} has a different meaning in every cron`, 'write * or a number')
  if (item.includes('~')) return randomItem(item, spec)
  const [, head = '', step = ''] = /^([^/]*)\/(\d{1,9})$/.exec(item) ?? []
  if (step === '') return item
  if (head !== '*' && !head.includes('-')) throw ambiguous({ item, head, step }, spec)
  // Cron accepts a step larger than the field, which leaves only the first value.
  if (Number(step) <= spec.lastStep - spec.min) return `${head}/${Number(step)}`
  // In a day field, the star also means that a day must match both fields, so leave such a step to be rejected.
  if (spec.name === 'day' || spec.name === 'weekday') return item
  return head === '*' ? String(spec.min) : head.split('-')[0]!
}

function ambiguous(
  { item, head, step }: { readonly item: string; readonly head: string; readonly step: string },
  { label, lastStep }: FieldSpec,
): EverytickError {
  const message = `${label} "${item.slice(0, 20)}" is a step from a single value, which some crons reject and others read as "${head}"`
  return refused('CRON_SYNTAX', message, `write ${head}-${lastStep}/${step}, or ${head}`)
}

/** `a~b` of cronie and OpenBSD: one random value in the range, or with a step, every n-th from a random start. */
function randomItem(item: string, spec: FieldSpec): string {
  const [whole, low = '', high = '', step = ''] = /^(\w*)~(\w*)(\/\d{1,9})?$/.exec(item) ?? []
  if (whole === undefined)
    throw refused('CRON_SYNTAX', `${spec.label} cannot contain "${item.slice(0, 20)}"`, 'a random value is 10~20')
  return `H(${low || spec.min}-${high || spec.lastHash})${step}`
}

/** Cron picks the random value when it reads the file; we pick it here, so that the stored schedule shows when it fires. */
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
