/** `app.queues`: lists, pauses, resumes and limits queues; the claim applies pauses and limits. */
import { checkKeys, readName, readStoredName, readText } from '../options.ts'
import { dateOf } from '../schedule/instant.ts'
import type { QueueRow } from '../store/contract/queues.ts'
import { formatDuration } from '../time/duration.ts'
import { type By, readBy } from './actor.ts'
import type { Core } from './core.ts'
import { LIMIT_KEYS, type LimitOptions, readLimits } from './read-queues.ts'

export interface QueueView {
  readonly name: string
  /** The most runs in all processes together; null without a limit. */
  readonly globalConcurrency: number | null
  readonly perWorkspace: number | null
  readonly rateLimit: { readonly limit: number; readonly per: string } | null
  readonly paused: { readonly reason: string; readonly by: string; readonly at: Date } | null
  /** Runs that are due and waiting; counted up to 10,000. */
  readonly ready: number
  readonly running: number
  /** When the longest waiting run was due; null when no run waits. */
  readonly oldestDueAt: Date | null
}

export interface QueuePauseOptions extends By {
  readonly reason?: string
}

export interface Queues {
  /** The queues that have limits, have runs or are paused, by name. */
  list(): Promise<QueueView[]>
  /** Stops starting runs of the queue in all processes; runs in progress continue. Pausing again replaces the reason. */
  pause(name: string, options?: QueuePauseOptions): Promise<void>
  /** Returns whether the queue was paused. */
  resume(name: string): Promise<boolean>
  /** Sets the limits of a queue for all processes and removes those not given. A process that declares limits in code sets them again when it starts. */
  limit(name: string, limits: LimitOptions): Promise<void>
}

export function createQueues(core: Core): Queues {
  return {
    async list() {
      return (await (await core.store()).queues.list()).map(queueView)
    },
    async pause(name, options = {}) {
      checkKeys(options, ['reason', 'by'], 'queues.pause()')
      const queue = readName(name, 'the name of a queue')
      const words = { reason: readText(options.reason ?? '', 'reason', 500), by: readBy(core, options) }
      await (await core.store()).queues.pause(queue, words)
    },
    async resume(name) {
      const queue = readStoredName(name, 'the name of a queue')
      return (await core.store()).queues.resume(queue)
    },
    async limit(name, given) {
      const queue = readName(name, 'the name of a queue')
      checkKeys(given, LIMIT_KEYS, 'queues.limit()')
      const limits = readLimits(given, `queue "${queue}"`)
      await (await core.store()).queues.configure([{ name: queue, limits }])
    },
  }
}

function queueView({ name, limits, pause, ready, running, oldestDueAt }: QueueRow): QueueView {
  const { globalConcurrency, perWorkspace, rateLimit } = limits
  return {
    name,
    globalConcurrency: globalConcurrency ?? null,
    perWorkspace: perWorkspace ?? null,
    rateLimit: rateLimit ? { limit: rateLimit.count, per: formatDuration(rateLimit.perMs) } : null,
    paused: pause && { ...pause, at: new Date(pause.at) },
    ready,
    running,
    oldestDueAt: dateOf(oldestDueAt),
  }
}
