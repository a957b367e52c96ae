/** The caller of a request, with scope and workspace. `authenticate.ts` establishes it. */
import type { AttemptName } from '../scheduler/complete.ts'
import { Refusal } from './problem.ts'
import { SCOPES, type Scope } from './scope.ts'

export interface Principal {
  /** The name in the audit log and in revisions. */
  readonly name: string
  readonly scope: Scope
  /** The only workspace that the caller may see and change; null: all. */
  readonly workspace: string | null
  /** The API key; null if the host has authenticated the caller. */
  readonly keyId: string | null
  /** The browser session of the key; streams that it opened end with it. */
  readonly sessionId?: string
  /** Set for a completion token, which can only complete this attempt. */
  readonly attempt?: AttemptName & { readonly runId: string }
}

export const mayDo = (scope: Scope, needed: Scope): boolean => SCOPES.indexOf(scope) >= SCOPES.indexOf(needed)

/** The workspace filter of a request: the requested one, else the caller's own, else all. */
export function visible(principal: Principal, asked: string | undefined): { workspace?: string } {
  if (principal.workspace === null) return asked === undefined ? {} : { workspace: asked }
  if (asked !== undefined && asked !== principal.workspace) throw elsewhere(principal)
  return { workspace: principal.workspace }
}

/** The workspace of a new resource: the given one, else the caller's own, else `default`. */
export function home(principal: Principal, asked: string | undefined): string {
  if (asked !== undefined && principal.workspace !== null && asked !== principal.workspace) throw elsewhere(principal)
  return asked ?? principal.workspace ?? 'default'
}

/** Identifies a caller: by key, or for callers that the host authenticates by name and workspace, because names may not be unique. */
export const callerOf = ({ keyId, name, workspace, attempt }: Principal): string =>
  keyId ?? JSON.stringify(attempt ? [name, attempt.runId, attempt.fence] : [name, workspace])

/** Whether the caller may see resources of a workspace. */
export const sees = (principal: Principal, workspace: string): boolean =>
  principal.workspace === null || principal.workspace === workspace

const elsewhere = ({ workspace }: Principal): Refusal =>
  new Refusal('FORBIDDEN', `this key is bound to workspace "${workspace}"`, { hint: 'leave out workspace' })
