/** Limits expensive requests in flight, per server, per workspace and per key. */
import type { Operation } from './operation.ts'
import { type Cost, ruleOf } from './operation-rules.ts'
import { callerOf, type Principal } from './principal.ts'
import { Refusal } from './problem.ts'

/** The maximum in flight at once. */
export interface Limits {
  readonly server: number
  readonly workspace: number
  readonly key: number
}

/** The number in flight; null for a caller without a key. */
export interface InFlight {
  readonly server: number
  readonly workspace: number
  readonly key: number | null
}

export type LimitOwner = keyof Limits

/** The owner of the limit that refuses one more request; null if it may start. */
export function limitReached(limits: Limits, { server, workspace, key }: InFlight): LimitOwner | null {
  if (key !== null && key >= limits.key) return 'key'
  if (workspace >= limits.workspace) return 'workspace'
  // A workspace may hold at most as many permits as remain free, so that the next workspace always finds some.
  return workspace >= limits.server - server ? 'server' : null
}

export interface Holder {
  readonly key: string | null
  /** The workspace it counts against. A caller of all workspaces counts on its own; all callers without a key count as one workspace. */
  readonly workspace: string
  /** The workspace that its key is bound to; absent for a caller of all workspaces. */
  readonly boundTo?: string
}

export function holderOf(principal: Principal | null, address: string): Holder {
  if (!principal) return { key: `address ${address}`, workspace: 'strangers' }
  const { keyId, workspace } = principal
  if (workspace === null) return { key: keyId, workspace: `caller ${callerOf(principal)}` }
  return { key: keyId, workspace: `workspace ${workspace}`, boundTo: workspace }
}

export interface Semaphore {
  /** Takes a permit and returns an idempotent release function; throws CONCURRENCY_LIMITED. */
  take(holder: Holder, limits?: Partial<Limits>): () => void
}

export interface SemaphoreOptions {
  /** The plural noun for messages, such as `event streams`. */
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

/** Limits by cost, so that a new operation is limited by its row. Costs that are not listed have only a rate limit. */
const BY_COST: Partial<Record<Cost, SemaphoreOptions>> = {
  search: { what: 'searches', limits: { server: 64, workspace: 24, key: 16 }, retryAfterSeconds: 1 },
  scan: { what: 'scans', limits: { server: 24, workspace: 8, key: 6 }, retryAfterSeconds: 2 },
  stream: { what: 'open streams', limits: { server: 2000, workspace: 500, key: 250 }, retryAfterSeconds: 5 },
}

export const isLimited = (operation: Pick<Operation, 'id'>): boolean => BY_COST[ruleOf(operation).cost] !== undefined

export interface OperationLimits {
  /** Takes the permit that the operation needs; returns its release function. */
  take(operation: Pick<Operation, 'id'>, holder: Holder): Promise<() => void>
}

/** `ofWorkspace` returns the limit that a workspace quota sets instead of the default; called only for costs with a limit. */
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
