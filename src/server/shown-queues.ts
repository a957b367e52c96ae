/** Selects the queues to show individually when space is limited: first configured and served queues, then queues that only runs name, round-robin over workspaces with a limit each. Pure. */
import type { SweptQueue } from '../store/contract/queues.ts'
import { roundRobin } from './alerting/round-robin.ts'

type Named = Pick<SweptQueue, 'name' | 'configured' | 'workspace'>

export interface Places {
  /** The queues that live processes serve. */
  readonly served: ReadonlySet<string>
  readonly all: number
  /** The limit per workspace for queues that only runs name. */
  readonly each: number
}

export function shownQueues<Queue extends Named>(
  queues: readonly Queue[],
  { served, all, each }: Places,
): { readonly shown: readonly Queue[]; readonly hidden: readonly Queue[] } {
  const known = queues.filter((queue) => isKnown(queue, served))
  const counts = new Map<string, number>()
  const others = queues.filter((queue) => {
    if (isKnown(queue, served)) return false
    const workspace = queue.workspace ?? ''
    const count = (counts.get(workspace) ?? 0) + 1
    counts.set(workspace, count)
    return count <= each
  })
  const shown = [...known, ...roundRobin(others, ({ workspace }) => workspace)].slice(0, all)
  const isShown = new Set(shown)
  return { shown, hidden: queues.filter((queue) => !isShown.has(queue)) }
}

export const isKnown = (
  { name, configured }: Pick<Named, 'name' | 'configured'>,
  served: ReadonlySet<string>,
): boolean => configured || served.has(name)
