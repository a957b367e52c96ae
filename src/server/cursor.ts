/** Pagination: the limit, the start position, and the opaque cursor of the next page. */
import { Refusal } from './problem.ts'

export interface Page<Item> {
  readonly data: readonly Item[]
  readonly page: { readonly next: string | null; readonly hasMore: boolean }
}

/** Encodes any JSON as URL-safe text. */
export const toCursor = (position: unknown): string => Buffer.from(JSON.stringify(position)).toString('base64url')

/** Decodes a cursor; `isPosition` validates the result. */
export function fromCursor<Position>(
  cursor: string | undefined,
  isPosition: (value: unknown) => value is Position,
): Position | undefined {
  if (cursor === undefined) return undefined
  try {
    const position: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    if (isPosition(position) && isPlain(position)) return position
  } catch {
    // Handled below, like any other invalid cursor.
  }
  throw new Refusal('CURSOR_INVALID', 'the cursor is invalid', { hint: 'pass page.next unchanged' })
}

/** A forged cursor may contain text that a store rejects. */
const isPlain = (position: unknown): boolean => !/\\u0000|\\ud[89a-f]/i.test(JSON.stringify(position))

/** Builds a page from one row more than requested, which shows whether a next page exists. */
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

/** Cursors of lists that are sorted by id. Must be a UUID: some stores cannot compare ids with other text. */
export const isIdPosition = (value: unknown): value is { readonly id: string } => {
  const { id } = (value ?? {}) as { id?: unknown }
  return isId(id)
}

/** Cursors of append-only lists. */
export const isEntryPosition = (value: unknown): value is { readonly entry: number } =>
  Number.isSafeInteger((value as { entry?: unknown } | null)?.entry)
