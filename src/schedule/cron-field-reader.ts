/** Reads one field of a cron expression, character by character and once, or refuses it; counting fields is `cron-expression.ts`. */
import type { Span } from '../errors.ts'
import { FIELD_SPECS, type Field, type FieldName, type FieldSpec, type Item } from './cron-field.ts'
import { quoted, refuse, unexpected, withRepair } from './cron-refusal.ts'
import { type Interning, interning } from './interning.ts'
import { stableHash } from './stable-hash.ts'

const MAX_ITEMS = 64

/** Where a field stands, and what its `H` is derived from. */
export interface FieldPlace {
  readonly source: string
  readonly span: Span
  readonly seed: string
}

interface Head extends FieldPlace {
  readonly spec: FieldSpec
  readonly end: number
  at: number
}

/** The same few texts fill the fields of most expressions, so they are read once and shared. */
const known = Object.fromEntries(FIELD_SPECS.map((spec) => [spec.name, interning<Field>(500)])) as Record<
  FieldName,
  Interning<Field>
>

export function readField(spec: FieldSpec, place: FieldPlace): Field {
  const { source, span } = place
  const text = source.slice(span[0], span[1])
  const shared = known[spec.name].get(text)
  if (shared) return shared
  const head: Head = { source, span, seed: place.seed, spec, at: span[0], end: span[1] }
  const plus = spec.name === 'weekday' && take(head, PLUS)
  const items = readItems(head)
  const both = plus || text.startsWith('*') || text === '?'
  const field: Field = { name: spec.name, text, items, both, wild: items.some((item) => item.kind === 'all') }
  if (!isHashed(field)) known[spec.name].offer(text, field)
  return field
}

export const isHashed = (field: Field): boolean => field.items.some((item) => item.kind === 'hash')

const [STAR, QUESTION, SLASH, DASH, COMMA, SHARP, OPEN, CLOSE, PLUS] = [42, 63, 47, 45, 44, 35, 40, 41, 43]
const [H, L, W] = [72, 76, 87]
const isDigit = (c: number): boolean => c >= 48 && c <= 57
const isLetter = (c: number): boolean => (c >= 65 && c <= 90) || (c >= 97 && c <= 122)

/** The character under the head in upper case, or -1 at the field's end. */
function peek(head: Head): number {
  if (head.at >= head.end) return -1
  const c = head.source.charCodeAt(head.at)
  return c >= 97 && c <= 122 ? c - 32 : c
}

function take(head: Head, c: number): boolean {
  if (peek(head) !== c) return false
  head.at++
  return true
}

const fail = (head: Head): Error => unexpected(head.source, head.spec, head.at, head.end)

function readItems(head: Head): Item[] {
  const { source, span, spec } = head
  const items: Item[] = []
  do {
    if (items.length === MAX_ITEMS) {
      const message = `${spec.label} has more than ${MAX_ITEMS} list items`
      throw refuse('CRON_LIST', source, { span: [head.at, head.end], message, hint: 'use a range or a step' })
    }
    if (head.at === head.end || peek(head) === COMMA) {
      const kept = source.slice(span[0], span[1]).split(',').filter(Boolean).join(',') || '*'
      const spot: Span = head.at === head.end ? [head.end - 1, head.end] : [head.at, head.at + 1]
      const message = `${spec.label} has an empty list item`
      throw refuse('CRON_LIST', source, { span: spot, message, hint: withRepair(source, span, kept) })
    }
    items.push(readItem(head))
  } while (take(head, COMMA))
  if (head.at !== head.end) throw fail(head)
  return items
}

function readItem(head: Head): Item {
  const { spec } = head
  if (take(head, STAR)) return { kind: 'all', from: spec.min, to: spec.lastStep, step: readStep(head) }
  if (peek(head) === QUESTION) return readQuestion(head)
  if (spec.name !== 'year' && take(head, H)) return readHash(head)
  if (spec.name === 'day' && take(head, L)) return readLastDay(head)
  const start = head.at
  const from = readValue(head, 0)
  if (take(head, DASH)) return readRange(head, start, from)
  if (peek(head) === SLASH)
    return { kind: 'range', from, to: Math.max(from, spec.lastStep), step: readStep(head), open: true }
  if (spec.name === 'day' && take(head, W)) return { kind: 'near-workday', day: from }
  if (spec.name === 'weekday' && take(head, L)) return { kind: 'last-weekday', weekday: from % 7 }
  if (spec.name === 'weekday' && take(head, SHARP)) {
    if (take(head, L)) return { kind: 'last-weekday', weekday: from % 7 }
    const nth = readNumber(head, { min: 1, max: 5, label: 'week of the month' })
    return { kind: 'nth-weekday', weekday: from % 7, nth }
  }
  return { kind: 'range', from, to: from, step: 1, open: false }
}

function readQuestion(head: Head): Item {
  const { source, span, spec } = head
  if (spec.name !== 'day' && spec.name !== 'weekday') {
    const spot: Span = [head.at, head.at + 1]
    const message = `"?" is only allowed in the two day fields, not in ${spec.label}`
    throw refuse('CRON_SYNTAX', source, { span: spot, message, hint: withRepair(source, spot, '*') })
  }
  if (span[1] - span[0] !== 1) {
    throw refuse('CRON_SYNTAX', source, {
      span,
      message: '"?" must be alone in its field',
      hint: withRepair(source, span, '*'),
    })
  }
  head.at++
  return { kind: 'all', from: spec.min, to: spec.lastStep, step: 1 }
}

function readLastDay(head: Head): Item {
  const before = take(head, DASH) ? readNumber(head, { min: 0, max: 30, label: 'days before L' }) : 0
  return take(head, W) ? { kind: 'last-workday', before } : { kind: 'last-day', before }
}

function readRange(head: Head, start: number, from: number): Item {
  const { source, spec } = head
  const to = readValue(head, from)
  if (to >= from) return { kind: 'range', from, to, step: readStep(head), open: false }
  const span: Span = [start, head.at]
  const upper = from < spec.lastStep ? `${from}-${spec.lastStep}` : String(from)
  const lower = to > spec.min ? `${spec.min}-${to}` : String(to)
  // Every field but the year begins again at its end.
  const repair = spec.name === 'year' ? `${to}-${from}` : `${upper},${lower}`
  const message = `${spec.label} range ${quoted(source, span)} runs backwards`
  throw refuse('CRON_REVERSED', source, { span, message, hint: withRepair(source, span, repair) })
}

/** `H` picks one value, `H/n` an offset below the step; both from the seed and the field's name. */
function readHash(head: Head): Item {
  const { source, spec, seed } = head
  const start = head.at - 1
  let [low, high] = [spec.min, spec.lastHash]
  if (take(head, OPEN)) {
    low = readValue(head, 0)
    if (!take(head, DASH)) throw fail(head)
    high = readValue(head, low)
    if (high < low) {
      const message = `the range of H in ${spec.label} runs backwards`
      throw refuse('CRON_REVERSED', source, { span: [start, head.at], message, hint: 'put the smaller value first' })
    }
    if (!take(head, CLOSE)) throw fail(head)
  }
  const hash = stableHash(`${seed}\n${spec.name}`)
  const width = high - low + 1
  if (peek(head) === SLASH) {
    const step = readStep(head)
    return { kind: 'hash', from: low + (hash % Math.min(step, width)), to: high, step }
  }
  const value = low + (hash % width)
  return { kind: 'hash', from: value, to: value, step: 1 }
}

/** An optional `/n`; 1 when there is none. A step beyond the field's range only ever gives the value it starts at. */
function readStep(head: Head): number {
  if (!take(head, SLASH)) return 1
  const { source, spec } = head
  const start = head.at
  const step = readDigits(head)
  const most = spec.lastStep - spec.min
  if (step >= 1 && step <= most) return step
  const span: Span = [start, head.at]
  if (step === 0) {
    const hint = withRepair(source, span, '1')
    throw refuse('CRON_STEP', source, { span, message: `${spec.label} has a step of zero`, hint })
  }
  const message = `${spec.label} step ${quoted(source, span)} is larger than ${most} and never reaches a second value`
  let from = start - 1
  while (from > head.span[0] && !',+'.includes(source[from - 1]!)) from--
  const stepped = source.slice(from, start - 1)
  const first = stepped === '*' ? String(spec.min) : /^h/i.test(stepped) ? stepped : stepped.split('-')[0]!
  const hint = `${withRepair(source, [from, head.at], first)} Or list the values`
  throw refuse('CRON_STEP', source, { span, message, hint })
}

/** A number or a name. A range that started above Sunday may end in SUN, which is then 7. */
function readValue(head: Head, rangeFrom: number): number {
  const { source, spec } = head
  if (!isLetter(peek(head))) return readNumber(head, spec)
  const start = head.at
  while (isLetter(peek(head))) head.at++
  // FRIL is FRI followed by L.
  if (spec.name === 'weekday' && head.at - start === 4 && source.charCodeAt(head.at - 1) % 32 === L % 32) head.at--
  const span: Span = [start, head.at]
  const name = source.slice(start, head.at).toUpperCase()
  const index = spec.names?.indexOf(name) ?? -1
  if (index >= 0) return spec.name === 'weekday' && index === 0 && rangeFrom > 0 ? 7 : index + spec.min
  if (!spec.names || name === 'L') {
    head.at = start
    throw fail(head)
  }
  const near = spec.names.find((real) => name.startsWith(real))
  const hint = near ? withRepair(source, span, near) : `known are ${spec.names.join(' ')}`
  throw refuse('CRON_NAME', source, { span, message: `${quoted(source, span)} is not a ${spec.label} name`, hint })
}

interface Bounds {
  readonly min: number
  readonly max: number
  readonly label: string
}

function readNumber(head: Head, { min, max, label }: Bounds): number {
  const { source } = head
  const start = head.at
  const value = readDigits(head)
  if (value >= min && value <= max) return value
  const span: Span = [start, head.at]
  // Hours, minutes and seconds wrap, so 25 o'clock was meant as 1; days and months do not.
  const wraps = min === 0 && max >= 23 && Number.isSafeInteger(value)
  const repair = wraps ? value % (max + 1) : Math.min(Math.max(value, min), max)
  const message = `${label} ${quoted(source, span)} is outside ${min}–${max}`
  throw refuse('CRON_RANGE', source, { span, message, hint: withRepair(source, span, String(repair)) })
}

function readDigits(head: Head): number {
  const start = head.at
  let value = 0
  while (isDigit(peek(head))) value = value * 10 + head.source.charCodeAt(head.at++) - 48
  if (head.at === start) throw fail(head)
  return value
}
