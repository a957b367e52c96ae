/** Turns an id prefix into bounds that an id index can use, and limits a list to them. */

export interface IdRange {
  /** The smallest matching id. */
  readonly from: string
  /** The first id after the matching ones; absent if there is none. */
  readonly before?: string
}

export const MIN_DIGITS = 4
export const FIRST_ID = '00000000-0000-0000-0000-000000000000'
const DIGITS = 32

/** Null if the text is not an id prefix. Dashes are optional and may be anywhere. */
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

/** The start of the range in a list sorted by descending id. */
export function startOf(range: IdRange | undefined, cursor: { readonly id: string } | undefined): { after?: string } {
  const { before } = range ?? {}
  const after = cursor === undefined ? before : before === undefined || cursor.id < before ? cursor.id : before
  return after === undefined ? {} : { after }
}

/** The rows within the range; the list ends at the first row below it. */
export const within = <Row extends { readonly id: string }>(rows: readonly Row[], range: IdRange | undefined): Row[] =>
  rows.filter(({ id }) => range === undefined || id >= range.from)
