/** Decides, purely, which queues have a place of their own where places are few: those that a process or a person named first, then those that only runs name, so many of each workspace and the workspaces in turns. */
import type { SweptQueue } from '../store/contract/queues.ts'
import { roundRobin } from './alerting/round-robin.ts'

type Named = Pick<SweptQueue, 'name' | 'configured' | 'workspace'>

export interface Places {
  /** Queues that live processes serve. */
  readonly served: ReadonlySet<string>
  readonly all: number
  /** Of the queues of one workspace that only runs name. */
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
