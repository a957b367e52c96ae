/** Reads the pages of a list up to the requested limit, and formats items as JSON with the requested fields. */
import type { AskOptions, Backend } from './backend.ts'
import { jsonText } from './print.ts'
import { badAnswer } from './server-answer.ts'
import { UsageError } from './usage-error.ts'

/** As parsed by commander. */
export interface ListOptions {
  readonly limit?: string
  readonly all?: boolean
  readonly json?: boolean | string
}

export interface Listed<Item> {
  readonly items: readonly Item[]
  readonly hasMore: boolean
}

interface Page<Item> {
  readonly data: readonly Item[]
  readonly next: string | undefined
}

/** Checks only that the items are objects: each command reads the fields it needs. */
function pageOf<Item>(body: unknown, limit: number): Page<Item> {
  const { data, page } = (body ?? {}) as { readonly data?: unknown; readonly page?: { readonly next?: unknown } }
  const next = page?.next ?? undefined
  const isPage = Array.isArray(data) && data.length <= limit && (next === undefined || typeof next === 'string')
  if (!isPage || data.some((item) => typeof item !== 'object' || item === null))
    throw badAnswer('did not return a page of a list')
  return { data: data as Item[], next }
}

const PAGE = 200
const DEFAULT_LIMIT = 50
const MAX_LIMIT = 1_000_000
const MAX_BYTES = 256 * 1024 * 1024
/** Maximum number of consecutive pages without items. */
const MAX_EMPTY = 1000

export function limitOf({ limit, all = false }: ListOptions): number {
  if (limit === undefined) return all ? MAX_LIMIT : DEFAULT_LIMIT
  if (all) throw new UsageError('--limit and --all exclude each other')
  if (/^\d{1,7}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= MAX_LIMIT) return Number(limit)
  throw new UsageError(`--limit must be a whole number from 1 to ${MAX_LIMIT}, not ${limit}`)
}

/** A short page does not mean the last one, so only a missing cursor ends the list. */
export async function listed<Item>(
  backend: Backend,
  path: string,
  { query = {}, limit }: { readonly query?: AskOptions['query']; readonly limit: number },
): Promise<Listed<Item>> {
  const items: Item[] = []
  const budget = { left: MAX_BYTES }
  let cursor: string | undefined
  let empty = 0
  do {
    const waitForStop = { ...query, limit: Math.min(PAGE, limit - items.length), cursor }
    const { data, next } = pageOf<Item>(
      await backend.ask<unknown>('GET', path, { query: waitForStop, budget }),
      waitForStop.limit,
    )
    items.push(...data)
    empty = data.length === 0 ? empty + 1 : 0
    if (next !== undefined && (next === cursor || empty > MAX_EMPTY))
      throw badAnswer('returns the same page again and again')
    cursor = next
  } while (cursor !== undefined && items.length < limit)
  return { items, hasMore: cursor !== undefined }
}

const LARGE = ['payload', 'result'] as const

/** The fields named by `--json id,payload` that a list returns only on request. */
export function includeOf(json: boolean | string | undefined, known: readonly string[] = LARGE): { include?: string } {
  const fields = typeof json === 'string' ? json.split(',').map((field) => field.trim()) : []
  const wanted = fields.filter((field) => known.includes(field))
  return wanted.length === 0 ? {} : { include: [...new Set(wanted)].join(',') }
}

type Body = Readonly<Record<string, unknown>>

/** One line: the body or bodies as REST returns them, or only the fields that `--json key,id` names. */
export function fieldsText(value: object | readonly object[], json: boolean | string): string {
  if (typeof json !== 'string') return `${jsonText(value)}\n`
  const bodies = (Array.isArray(value) ? value : [value]) as readonly Body[]
  const known = new Set(bodies.flatMap(Object.keys))
  const fields = json.split(',').map((field) => field.trim())
  const strange = fields.find((field) => !/^\w+$/.test(field) || (known.size > 0 && !known.has(field)))
  if (strange !== undefined)
    throw new UsageError(`unknown field ${JSON.stringify(strange)}`, {
      hint: `--json takes ${[...known].slice(0, 40).join(',') || 'field names'}; without field names, put --json last`,
    })
  const picked = bodies.map((body) => Object.fromEntries(fields.map((field) => [field, body[field] ?? null])))
  return `${jsonText(Array.isArray(value) ? picked : picked[0])}\n`
}
