/** Forgets what is older than its retention, in bounded steps, on one node at a time. */
import type { Retention, UpkeepStore } from '../store/contract/upkeep.ts'
import type { Leadership } from './leadership.ts'

const POLL_MS = 60_000
/** Between two steps, so that the working path never waits long for the tidying one. */
const PAUSE_MS = 100

export interface JanitorOptions {
  readonly upkeep: UpkeepStore
  readonly leadership: Leadership
  readonly retention: Retention
}

export function createJanitor({ upkeep, leadership, retention }: JanitorOptions): { pass(): Promise<number> } {
  return {
    async pass() {
      if (!(await leadership.leads())) return POLL_MS
      const { more } = await upkeep.tidy(retention)
      return more ? PAUSE_MS : POLL_MS
    },
  }
}
