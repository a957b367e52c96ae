/** Says that this process is alive and what it serves, for people to see; grants do not depend on it. */
import { tzdataVersion } from '../schedule/time-zone.ts'
import type { EngineOptions } from './engine-options.ts'

const BEAT_MS = 5000

export function createBeat(options: EngineOptions, busy: () => number): { pass(): Promise<number> } {
  const { store, workerId: id, host, roles } = options
  const queues = Object.fromEntries(Object.entries(options.queues).map(([name, each]) => [name, each.concurrency]))
  return {
    async pass() {
      const served = { roles, queues, tzdata: tzdataVersion(), busy: busy() }
      await store.workers.beat({ id, host: host.name, pid: host.pid, ...served })
      return BEAT_MS
    },
  }
}
