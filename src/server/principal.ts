/** Who asks, what they may do, and whose things they may see; how that is proved is `authenticate.ts`. */
import type { AttemptName } from '../scheduler/complete.ts'
import { Refusal } from './problem.ts'
import { SCOPES, type Scope } from './scope.ts'

export interface Principal {
  /** As the audit log and revisions name them. */
  readonly name: string
  readonly scope: Scope
  /** The only workspace they see and touch; null: all of them. */
  readonly workspace: string | null
  /** The key they came with; null for a host that vouches for them. */
  readonly keyId: string | null
  /** The session of a browser that stands for the key; what it opened ends with it. */
  readonly sessionId?: string
  /** Came with a completion token instead, which is good for ending this attempt and nothing else. */
  readonly attempt?: AttemptName & { readonly runId: string }
}

export const mayDo = (scope: Scope, needed: Scope): boolean => SCOPES.indexOf(scope) >= SCOPES.indexOf(needed)

/** A workspace that was asked for, as a filter: their own when they have one, and all when nobody asked. */
export function visible(principal: Principal, asked: string | undefined): { workspace?: string } {
  if (principal.workspace === null) return asked === undefined ? {} : { workspace: asked }
  if (asked !== undefined && asked !== principal.workspace) throw elsewhere(principal)
  return { workspace: principal.workspace }
}

/** The workspace that something new belongs to: said, or their own, or `default`. */
export function home(principal: Principal, asked: string | undefined): string {
  if (asked !== undefined && principal.workspace !== null && asked !== principal.workspace) throw elsewhere(principal)
  return asked ?? principal.workspace ?? 'default'
}

/** Tells callers apart: by key, and those that a host vouches for by name and workspace, since a name may be everybody's. */
export const callerOf = ({ keyId, name, workspace, attempt }: Principal): string =>
  keyId ?? JSON.stringify(attempt ? [name, attempt.runId, attempt.fence] : [name, workspace])

/** Whether they may know of a thing at all. */
export const sees = (principal: Principal, workspace: string): boolean =>
  principal.workspace === null || principal.workspace === workspace

const elsewhere = ({ workspace }: Principal): Refusal =>
  new Refusal('FORBIDDEN', `this key is bound to workspace "${workspace}"`, { hint: 'leave out workspace' })
