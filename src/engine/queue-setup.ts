/** Tells the store the limits of this process' queues; those it has none for stay as others set them. */
import { isLimited } from '../run/queue-limits.ts'
import type { QueueStore } from '../store/contract/queues.ts'
import type { QueueOptions } from './worker.ts'

export async function setUpQueues(store: QueueStore, queues: Readonly<Record<string, QueueOptions>>): Promise<void> {
  const limited = Object.entries(queues).filter(([, { limits }]) => isLimited(limits))
  if (limited.length > 0) await store.configure(limited.map(([name, { limits }]) => ({ name, limits })))
}
