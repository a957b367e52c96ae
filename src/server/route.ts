/** Joins an operation to the function that carries it out, and says what that function is handed and answers; everything before and after it is `dispatch.ts`. */
import type { z } from 'zod'
import type { Json } from '../json.ts'
import type { SearchBudget } from '../schedule/search-budget.ts'
import type { Interrupted } from './idempotency.ts'
import type { Operation } from './operation.ts'
import type { Principal } from './principal.ts'
import type { WarningBody } from './warnings.ts'

export interface ParsedRequest<O extends Operation = Operation> {
  readonly params: O extends Operation<infer Schema, z.ZodType, z.ZodType> ? z.output<Schema> : never
  readonly query: O extends Operation<z.ZodType, infer Schema, z.ZodType> ? z.output<Schema> : never
  readonly body: O extends Operation<z.ZodType, z.ZodType, infer Schema> ? z.output<Schema> : never
  /** Names of the request that are called otherwise here. */
  readonly notes: readonly WarningBody[]
  readonly principal: Principal
  readonly request: Request
  readonly requestId: string
  /** Where the call came from, as far as it is known. */
  readonly address: string
  /** Under which the interface lies, such as `/api/v1`. */
  readonly base: string
  /** For what the request makes. Where it takes over from a server that died, the first server had the same id. */
  readonly newId: string
  /** The request with the same Idempotency-Key whose server died before it answered: what it wrote may be there. */
  readonly interrupted: Interrupted | null
  /** How much searching for occurrences this request may still cost. */
  readonly budget: SearchBudget
}

export interface Change {
  /** Whose thing it is; the empty text for the whole fleet. */
  readonly workspace: string
  /** Such as `schedule default/nightly`. */
  readonly target: string
  readonly before?: unknown
  readonly after?: unknown
}

export interface Reply {
  readonly status: number
  /** Becomes JSON; instants become RFC 3339 text. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Instead of a body: what is not JSON, or comes bit by bit. */
  readonly raw?: Response
  /** What a repetition is answered in place of the body, where that holds a secret that must not be stored. */
  readonly repeated?: unknown
  /** For the audit log: demanded of every operation with an action, `none` where it turned out that nothing changed. */
  readonly change?: Change | 'none'
}

export interface Route {
  readonly operation: Operation
  readonly handle: (asked: ParsedRequest) => Promise<Reply>
}

export function route<O extends Operation>(operation: O, handle: (asked: ParsedRequest<O>) => Promise<Reply>): Route {
  return { operation, handle: handle as (asked: ParsedRequest) => Promise<Reply> }
}

export const ok = (body: unknown, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status: 200,
  body,
  headers,
})

/** What an instant or a class instance looks like once it is JSON. */
export const plain = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? null)) as Json
