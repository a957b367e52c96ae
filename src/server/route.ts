/** Connects an operation to its handler, and defines the handler's input and reply. `dispatch.ts` does everything around it. */
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
  /** Warnings about aliases in the request. */
  readonly notes: readonly WarningBody[]
  readonly principal: Principal
  readonly request: Request
  readonly requestId: string
  /** The origin of the call, as far as known. */
  readonly address: string
  /** The API base path, such as `/api/v1`. */
  readonly base: string
  /** The id for a resource that the request creates; the same when it takes over from a crashed server. */
  readonly newId: string
  /** The first request with the same Idempotency-Key, if its server crashed before the response; its writes may exist. */
  readonly interrupted: Interrupted | null
  /** The remaining budget for searching occurrences. */
  readonly budget: SearchBudget
}

export interface Change {
  /** The workspace of the target; the empty text for the fleet. */
  readonly workspace: string
  /** Such as `schedule default/nightly`. */
  readonly target: string
  readonly before?: unknown
  readonly after?: unknown
}

export interface Reply {
  readonly status: number
  /** Serialized as JSON; instants become RFC 3339 text. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** A raw response instead of a JSON body, for other media types and streams. */
  readonly raw?: Response
  /** The body to store for repeated requests, if the real body contains a secret that must not be stored. */
  readonly repeated?: unknown
  /** For the audit log: required for every operation with an action; `none` if nothing changed. */
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

/** The JSON form of instants and class instances. */
export const plain = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? null)) as Json
