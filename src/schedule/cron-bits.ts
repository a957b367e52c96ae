/** Turns the plain values of a field (`*`, ranges, steps, hashes) into sets of bits; `L`, `W` and `#` depend on the month. */
import { FIELD_SPECS, type Field } from './cron-field.ts'

/** The plain values from `base` to `base + width - 1`, as bits counted from `base`. */
export function fieldBits(field: Field, base = 0, width = 32): number {
  let bits = 0
  for (const item of field.items) {
    if (!('from' in item)) continue
    for (let v = item.from; v <= item.to && v < base + width; v += item.step) if (v >= base) bits |= 1 << (v - base)
  }
  return bits
}

const YEARS = FIELD_SPECS.at(-1)!

/** The plain values themselves, ascending and once each; a weekday of 7 stays 7. */
export function fieldValues(field: Field): number[] {
  const values: number[] = []
  const [first, last] = field.name === 'year' ? [YEARS.min, YEARS.max] : [0, 59]
  for (let base = first; base <= last; base += 30) {
    for (let bits = fieldBits(field, base, 30); bits !== 0; bits &= bits - 1) values.push(base + lowestBit(bits))
  }
  return values
}

export const lowestBit = (bits: number): number => 31 - Math.clz32(bits & -bits)
export const highestBit = (bits: number): number => 31 - Math.clz32(bits)

export function bitCount(bits: number): number {
  let n = bits - ((bits >>> 1) & 0x55555555)
  n = (n & 0x33333333) + ((n >>> 2) & 0x33333333)
  return Math.imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
