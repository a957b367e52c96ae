/** A page of a list, newest first, with filters by id prefix and name. */
import { fromCursor, isIdPosition, toCursor } from './cursor.ts'
import { type IdRange, startOf, within } from './id-range.ts'

export interface Wanted {
  readonly id?: IdRange | undefined
  readonly cursor?: string | undefined
  readonly limit: number
}

interface Bounds {
  readonly limit: number
  readonly after?: string
}

interface Listed<Row> {
  readonly list: (page: Bounds) => Promise<readonly Row[]>
  /** A filter that no index supports; absent: all rows match. */
  readonly fits?: ((row: Row) => boolean) | undefined
}

interface ListPage<Row> {
  readonly rows: readonly Row[]
  readonly page: { readonly next: string | null; readonly hasMore: boolean }
}

/** The most rows that one call reads while filtering; the page may then be short although more rows follow. */
const READ_ROWS = 1000

export async function listPage<Row extends { readonly id: string }>(
  { list, fits }: Listed<Row>,
  { id: range, cursor, limit }: Wanted,
): Promise<ListPage<Row>> {
  const start = startOf(range, fromCursor(cursor, isIdPosition))
  const read = fits ? READ_ROWS : limit + 1
  const found = await list({ ...start, limit: read })
  const meant = within(found, range)
  const rows = (fits ? meant.filter(fits) : meant).slice(0, limit)
  // Continue after the last row shown, or after the last row read if no further row matches.
  const hasFilled = rows.length === limit
  const last = hasFilled ? rows.at(-1) : meant.at(-1)
  const hasMore =
    last !== undefined && (last !== meant.at(-1) || (found.length === read && meant.length === found.length))
  return { rows, page: { next: hasMore ? toCursor({ id: last.id }) : null, hasMore } }
}
