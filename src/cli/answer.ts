/** Prints a response as JSON with `--json`, otherwise as the text of the command; `listing.ts` reads the pages of lists. */
import type { AskOptions, Backend } from './backend.ts'
import type { Io } from './io.ts'
import { fieldsText, type ListOptions, limitOf, listed } from './listing.ts'
import type { View } from './print.ts'
import { UsageError } from './usage-error.ts'

export interface JsonOption {
  /** True without fields; otherwise comma-separated field names. */
  readonly json?: boolean | string
}

export async function answer<Body extends object>(
  body: Body,
  { json = false, io }: JsonOption & { readonly io: Io },
  text: (body: Body, view: View) => string,
): Promise<void> {
  io.write(json === false ? text(body, await io.view()) : fieldsText(body, json))
}

/** Returns up to the requested number of items, and notes on standard error if there are more. */
export async function listOf<Item>(
  backend: Backend,
  path: string,
  { io, query = {}, ...options }: ListOptions & { readonly io: Io; readonly query?: AskOptions['query'] },
): Promise<readonly Item[]> {
  const { items, hasMore } = await listed<Item>(backend, path, { query, limit: limitOf(options) })
  if (hasMore) io.note(`  showing the first ${items.length}; use --limit or --all to see more\n`)
  return items
}

export function readCount(text: string, option: string, [min, max]: readonly [number, number]): number {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (count >= min && count <= max) return count
  throw new UsageError(`${option} takes a whole number from ${min} to ${max}, not ${text}`, { code: 'OPTION_INVALID' })
}
