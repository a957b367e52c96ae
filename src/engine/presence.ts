/** Says that this process is alive and what it serves, and hears whether it is to drain; claims do not depend on it. */
import { tzdataVersion } from '../schedule/time-zone.ts'
import type { EngineOptions } from './engine-options.ts'

const PRESENCE_MS = 5000

export interface PresenceSources {
  readonly busy: () => number
  /** Called once, when somebody asked this process to claim nothing more. */
  readonly onDrain: () => void
}

export function createPresence(
  options: EngineOptions,
  { busy, onDrain }: PresenceSources,
): { pass(): Promise<number> } {
  const { store, workerId: id, host, roles } = options
  // A process that only plans serves no queue, and nobody should count on it.
  const slots = roles.includes('worker') ? Object.entries(options.queues) : []
  const queues = Object.fromEntries(slots.map(([name, each]) => [name, each.concurrency]))
  let drains = false
  return {
    async pass() {
      const info = { roles, queues, tzdata: tzdataVersion(), busy: busy() }
      const { draining } = await store.workers.reportPresence({ id, host: host.name, pid: host.pid, ...info })
      // One that was not heard of for long was dropped from the list, with what it had been told.
      if (drains && !draining) await store.workers.drain(id)
      if (draining && !drains) {
        drains = true
        onDrain()
      }
      return PRESENCE_MS
    },
  }
}
