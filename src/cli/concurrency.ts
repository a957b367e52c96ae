/** Applies `--concurrency` to the options of an app: it replaces `concurrency` in code, also for single queues. */
import type { QueueOption } from '../scheduler/read-queues.ts'
import type { EverytickOptions } from '../scheduler/settings.ts'
import type { LoadedConfig } from './config-file.ts'

type Queues = Readonly<Record<string, QueueOption>>

/** `chosen` are the queues given with --queues. */
export function concurrencyOverrides(
  concurrency: number | null,
  { options }: LoadedConfig,
  chosen: { readonly queues?: Queues } = {},
): Partial<EverytickOptions> {
  if (concurrency === null) return chosen
  const queues = chosen.queues ?? options.queues
  if (queues === undefined) return { concurrency }
  const changed = Object.entries(queues).map(([name, queue]) => [name, withConcurrency(queue, concurrency)])
  return { concurrency, queues: Object.fromEntries(changed) }
}

/** Keeps the other limits of the queue. */
const withConcurrency = (queue: QueueOption, concurrency: number): QueueOption =>
  typeof queue === 'object' && queue !== null ? { ...queue, concurrency } : concurrency
