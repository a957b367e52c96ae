/** Ends a page before its content exceeds so many bytes, in the database, so that no more is sent; which rows it has is decided by its statement. */

export interface ByteBound {
  /** The order of the page, in its own columns. */
  readonly order: string
  /** Columns whose content counts. */
  readonly columns: readonly string[]
  /** SQL for the bound. */
  readonly maxBytes: string
}

/** Beside its columns, what the rows of a bounded page have. */
export interface Bounded {
  /** Rows that the page had before it was cut. */
  readonly page_rows: number
  readonly page_place: number
}

/**
 * SQL for the first rows of a page, as many as fit and one at least. The size of a row is taken when the walk comes to it: a large value
 * that lies beyond the end of the page is never read from where it is stored.
 */
export function withinBytes(page: string, { order, columns, maxBytes }: ByteBound): string {
  const size = columns.map((column) => `coalesce(octet_length(p.${column}::text), 0)`).join(' + ')
  return `
with recursive page as materialized (
  select row_number() over (order by ${order}) as page_place, q.* from (${page}) q
), walk as (
  select 1::bigint as place, (select (${size})::bigint from page p where p.page_place = 1) as bytes
  union all
  select w.place + 1, w.bytes + (select (${size})::bigint from page p where p.page_place = w.place + 1)
  from walk w where w.place < (select count(*) from page) and w.bytes <= ${maxBytes}
)
select p.*, (select count(*) from page)::int as page_rows
from page p join walk w on w.place = p.page_place
where w.place = 1 or w.bytes <= ${maxBytes}
order by p.page_place`
}

/** The rows as they are without what the bound added, and whether the bound cut the page. */
export function unbounded<Row extends object>(
  rows: readonly (Row & Partial<Bounded>)[],
): {
  readonly rows: Row[]
  readonly isCut: boolean
} {
  const isCut = rows.length > 0 && rows.length < (rows[0]!.page_rows ?? 0)
  return { rows: rows.map(({ page_rows: _, page_place: __, ...row }) => row as unknown as Row), isCut }
}
