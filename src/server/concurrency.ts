/** Decides whether one more expensive request may begin beside those in flight: limits of the server, of one workspace and of one key; what the request does is left to its route. */
import type { Operation } from './operation.ts'
import { type Cost, ruleOf } from './operation-rules.ts'
import { callerOf, type Principal } from './principal.ts'
import { Refusal } from './problem.ts'

/** How many may be in flight at once. */
export interface Limits {
  readonly server: number
  readonly workspace: number
  readonly key: number
}

/** How many are in flight; null for a caller without a key. */
export interface InFlight {
  readonly server: number
  readonly workspace: number
  readonly key: number | null
}

export type LimitOwner = keyof Limits

/** Whose limit refuses one more request, or null when it may begin. */
export function limitReached(limits: Limits, { server, workspace, key }: InFlight): LimitOwner | null {
  if (key !== null && key >= limits.key) return 'key'
  if (workspace >= limits.workspace) return 'workspace'
  // A workspace holds at most as many places as it leaves free, so that the next workspace always finds some.
  return workspace >= limits.server - server ? 'server' : null
}

export interface Holder {
  readonly key: string | null
  /** Its workspace. A caller of all workspaces stands for itself, and all callers without a key stand for one workspace. */
  readonly workspace: string
  /** The only workspace that its key sees; absent for a caller of all of them. */
  readonly boundTo?: string
}

export function holderOf(principal: Principal | null, address: string): Holder {
  if (!principal) return { key: `address ${address}`, workspace: 'strangers' }
  const { keyId, workspace } = principal
  if (workspace === null) return { key: keyId, workspace: `caller ${callerOf(principal)}` }
  return { key: keyId, workspace: `workspace ${workspace}`, boundTo: workspace }
}

export interface Semaphore {
  /** Takes a place and returns the function that gives it back, which is idempotent; throws CONCURRENCY_LIMITED. */
  take(holder: Holder, limits?: Partial<Limits>): () => void
}

export interface SemaphoreOptions {
  /** What is counted, in the plural, such as `event streams`. */
  readonly what: string
  readonly limits: Limits
  readonly retryAfterSeconds: number
}

export function createSemaphore({ what, limits, retryAfterSeconds }: SemaphoreOptions): Semaphore {
  const counts = new Map<string, number>()
  const countOf = (name: string): number => counts.get(name) ?? 0
  const add = (name: string, change: 1 | -1): void => {
    const count = countOf(name) + change
    if (count === 0) counts.delete(name)
    else counts.set(name, count)
  }
  return {
    take({ key, workspace }, own = {}) {
      const names = ['server', `workspace:${workspace}`, ...(key === null ? [] : [`key:${key}`])]
      const [server, ofWorkspace, ofKey = null] = names.map(countOf) as [number, number, number?]
      const inForce = { ...limits, ...own }
      const owner = limitReached(inForce, { server, workspace: ofWorkspace, key: ofKey })
      if (owner) throw concurrencyLimited(what, owner, { limit: inForce[owner], retryAfterSeconds })
      for (const name of names) add(name, 1)
      let isHeld = true
      return () => {
        if (!isHeld) return
        isHeld = false
        for (const name of names) add(name, -1)
      }
    },
  }
}

export function concurrencyLimited(
  what: string,
  owner: LimitOwner,
  { limit, retryAfterSeconds }: { readonly limit: number; readonly retryAfterSeconds: number },
): Refusal {
  const reached =
    owner === 'server'
      ? `the server has no capacity left for more ${what} of this workspace`
      : `the ${owner} has ${limit} ${what} in flight, which is its limit`
  return new Refusal('CONCURRENCY_LIMITED', `limit of the ${owner}: ${reached}`, {
    hint: `wait until one ends, or try again in ${retryAfterSeconds} s`,
    headers: { 'retry-after': String(retryAfterSeconds) },
  })
}

/** By cost, so that a new operation is limited by its row. Costs that are not listed are limited by their rate alone. */
const BY_COST: Partial<Record<Cost, SemaphoreOptions>> = {
  search: { what: 'searches', limits: { server: 64, workspace: 24, key: 16 }, retryAfterSeconds: 1 },
  scan: { what: 'scans', limits: { server: 24, workspace: 8, key: 6 }, retryAfterSeconds: 2 },
  stream: { what: 'open streams', limits: { server: 2000, workspace: 500, key: 250 }, retryAfterSeconds: 5 },
}

export const isLimited = (operation: Pick<Operation, 'id'>): boolean => BY_COST[ruleOf(operation).cost] !== undefined

export interface OperationLimits {
  /** Takes the place that the operation needs; returns the function that gives it back. */
  take(operation: Pick<Operation, 'id'>, holder: Holder): Promise<() => void>
}

/** `ofWorkspace` answers the limit that a quota of a workspace sets in place of the usual one; it is asked only for costs that have a limit. */
export function createOperationLimits(
  ofWorkspace: (cost: Cost, workspace: string) => Promise<number | undefined> = async () => undefined,
): OperationLimits {
  const semaphores = new Map(
    Object.entries(BY_COST).map(([cost, options]) => [cost as Cost, createSemaphore(options)] as const),
  )
  return {
    async take(operation, holder) {
      const { cost } = ruleOf(operation)
      const semaphore = semaphores.get(cost)
      if (!semaphore) return () => {}
      const workspace = holder.boundTo === undefined ? undefined : await ofWorkspace(cost, holder.boundTo)
      return semaphore.take(holder, workspace === undefined ? {} : { workspace })
    },
  }
}
