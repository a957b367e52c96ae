/** The definition of a REST operation, from which routing, validation, access control, audit log and OpenAPI document are derived. */
import type { z } from 'zod'
import type { ErrorCode } from '../errors.ts'
import type { ProblemCode } from './problem-codes.ts'
import type { Scope } from './scope.ts'

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

export interface AnswerSpec {
  readonly description: string
  /** Absent without a body. */
  readonly schema?: z.ZodType
  /** Default: `application/json`. */
  readonly mediaType?: string
  readonly headers?: readonly string[]
}

export interface Operation<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
> {
  /** Its name in the OpenAPI document, such as `pauseSchedule`. */
  readonly id: string
  readonly method: Method
  /** Such as `/schedules/{id}/pause`, below the API base path. */
  readonly path: string
  /** One sentence. */
  readonly summary: string
  /** The tag (heading) in the document. */
  readonly resource: string
  /** The minimum scope; `none` needs no authentication. */
  readonly scope: Scope | 'none'
  /** `fleet`: affects all workspaces, so callers that are bound to one may not call it. */
  readonly reach: 'workspace' | 'fleet'
  /** Works while the database is down: shows no payloads, and accepts keys that were valid when the database last responded. */
  readonly withoutStore?: true
  /** The action name in the audit log, such as `schedule.pause`; absent for read-only operations. */
  readonly action?: string
  /**
   * How to handle a request whose first server crashed with the same Idempotency-Key; required for every POST with an action.
   * `repeat`: execute it again, because it finds what the first one has done. `look`: repeating might apply the change twice, so
   * the caller gets this hint how to check the outcome.
   */
  readonly recovery?: 'repeat' | { readonly look: string }
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  /** By status. */
  readonly answers: Readonly<Record<number, AnswerSpec>>
  /** Problem codes in addition to those that every operation may return. */
  readonly refusals?: readonly (ProblemCode | ErrorCode)[]
}

type None = z.ZodType<undefined>

/** Defines an operation and preserves the types of its schemas. */
export function operation<
  Params extends z.ZodType = None,
  Query extends z.ZodType = None,
  Body extends z.ZodType = None,
>(spec: Operation<Params, Query, Body>): Operation<Params, Query, Body> {
  return Object.freeze(spec)
}
