/** Which ids begin with what a caller wrote, as bounds that an index on ids can use, and the page of a list between them. */

export interface IdRange {
  /** The least id that fits. */
  readonly from: string
  /** The first id beyond those that fit; absent when there is none. */
  readonly before?: string
}

export const MIN_DIGITS = 4
export const FIRST_ID = '00000000-0000-0000-0000-000000000000'
const DIGITS = 32

/** Null when it is not the beginning of an id. Dashes may stand anywhere or be left out. */
export function idRange(text: string): IdRange | null {
  const digits = text.replaceAll('-', '').toLowerCase()
  if (!/^[0-9a-f]+$/.test(digits) || digits.length < MIN_DIGITS || digits.length > DIGITS) return null
  const next = BigInt(`0x${digits}`) + 1n
  const beyond = next.toString(16).padStart(digits.length, '0')
  return {
    from: dashed(digits.padEnd(DIGITS, '0')),
    ...(beyond.length > digits.length ? {} : { before: dashed(beyond.padEnd(DIGITS, '0')) }),
  }
}

const dashed = (digits: string): string => digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

/** Lists go from the greatest id to the least: where this one begins. */
export function startOf(range: IdRange | undefined, cursor: { readonly id: string } | undefined): { after?: string } {
  const { before } = range ?? {}
  const after = cursor === undefined ? before : before === undefined || cursor.id < before ? cursor.id : before
  return after === undefined ? {} : { after }
}

/** Those rows of a list that the range has; what is below it is the end of the list. */
export const within = <Row extends { readonly id: string }>(rows: readonly Row[], range: IdRange | undefined): Row[] =>
  rows.filter(({ id }) => range === undefined || id >= range.from)
