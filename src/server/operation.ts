/** What an operation of the REST interface is: one entry of the table that routing, validation, access, the audit log and the OpenAPI document are all made from. */
import type { z } from 'zod'
import type { ErrorCode } from '../errors.ts'
import type { ProblemCode } from './problem-codes.ts'
import type { Scope } from './scope.ts'

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

export interface AnswerSpec {
  readonly description: string
  /** Absent when there is no body. */
  readonly schema?: z.ZodType
  /** `application/json` when absent. */
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
  /** Such as `/schedules/{id}/pause`, below the base of the interface. */
  readonly path: string
  /** One sentence. */
  readonly summary: string
  /** The heading it stands under. */
  readonly resource: string
  /** The least scope that may do it; `none` is open to everybody. */
  readonly scope: Scope | 'none'
  /** `fleet`: it concerns all workspaces, and is refused to whoever is bound to one. */
  readonly reach: 'workspace' | 'fleet'
  /** Answers while the store is away too: no payload is shown, and a key counts as it did when the store last answered. */
  readonly withoutStore?: true
  /** What the audit log calls it, such as `schedule.pause`; absent when nothing is changed. */
  readonly action?: string
  /**
   * What a server does with a request whose Idempotency-Key was begun by a server that died; every POST with an action says it.
   * `repeat`: it does it again, and finds what the first has done. `look`: doing it again might do it twice; the caller is told
   * how to find out.
   */
  readonly recovery?: 'repeat' | { readonly look: string }
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  /** By status. */
  readonly answers: Readonly<Record<number, AnswerSpec>>
  /** Beyond those that every operation may answer with. */
  readonly refusals?: readonly (ProblemCode | ErrorCode)[]
}

type None = z.ZodType<undefined>

/** Keeps the types of its schemas. */
export function operation<
  Params extends z.ZodType = None,
  Query extends z.ZodType = None,
  Body extends z.ZodType = None,
>(spec: Operation<Params, Query, Body>): Operation<Params, Query, Body> {
  return Object.freeze(spec)
}
