/** What `--concurrency` changes in the options of an app: as `concurrency` in code, and before the numbers that single queues have there. */
import type { QueueOption } from '../scheduler/read-queues.ts'
import type { EverytickOptions } from '../scheduler/settings.ts'
import type { LoadedConfig } from './config-file.ts'

type Queues = Readonly<Record<string, QueueOption>>

/** `chosen` are the queues of the command line, when it names some. */
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

/** Its limits stay. */
const withConcurrency = (queue: QueueOption, concurrency: number): QueueOption =>
  typeof queue === 'object' && queue !== null ? { ...queue, concurrency } : concurrency
