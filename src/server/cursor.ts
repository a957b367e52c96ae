/** Pages: how many, after which, and the opaque text that leads to the next; what is listed is each route's matter. */
import { Refusal } from './problem.ts'

export interface Page<Item> {
  readonly data: readonly Item[]
  readonly page: { readonly next: string | null; readonly hasMore: boolean }
}

/** Any JSON as text that goes into an address as it is. */
export const toCursor = (position: unknown): string => Buffer.from(JSON.stringify(position)).toString('base64url')

/** What `toCursor` was given, if `isPosition` knows it again. */
export function fromCursor<Position>(
  cursor: string | undefined,
  isPosition: (value: unknown) => value is Position,
): Position | undefined {
  if (cursor === undefined) return undefined
  try {
    const position: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    if (isPosition(position) && isPlain(position)) return position
  } catch {
    // Answered below, like any other text that is no cursor.
  }
  throw new Refusal('CURSOR_INVALID', 'the cursor is invalid', { hint: 'pass page.next unchanged' })
}

/** A cursor that somebody made up may carry text that no store takes. */
const isPlain = (position: unknown): boolean => !/\\u0000|\\ud[89a-f]/i.test(JSON.stringify(position))

/** From one more than was asked for: whether there is a next page is then known. */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  limit: number,
  { item, position }: { item: (row: Row) => Item; position: (row: Row) => unknown },
): Page<Item> {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const hasMore = rows.length > limit
  return {
    data: shown.map(item),
    page: { next: hasMore && last !== undefined ? toCursor(position(last)) : null, hasMore },
  }
}

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export const isId = (value: unknown): value is string => typeof value === 'string' && ID.test(value)

/** Cursors of things that are listed by their id; some stores can compare it with nothing else. */
export const isIdPosition = (value: unknown): value is { readonly id: string } => {
  const { id } = (value ?? {}) as { id?: unknown }
  return isId(id)
}

/** Cursors of entries that are only added. */
export const isEntryPosition = (value: unknown): value is { readonly entry: number } =>
  Number.isSafeInteger((value as { entry?: unknown } | null)?.entry)
