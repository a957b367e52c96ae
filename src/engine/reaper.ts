/** Finds runs whose lease ended without a word and settles them as lost; the fence keeps a late worker from settling them too. */
import { settle } from '../run/settle.ts'
import type { ClaimStore } from '../store/contract/claims.ts'
import type { Leadership } from './leadership.ts'

const BATCH = 500
const POLL_MS = 1000

export interface ReaperOptions {
  readonly claims: ClaimStore
  readonly leadership: Leadership
  readonly workerId: string
  readonly random: () => number
}

export function createReaper({ claims, leadership, workerId, random }: ReaperOptions): { pass(): Promise<number> } {
  return {
    async pass() {
      if (!(await leadership.leads())) return POLL_MS
      for (;;) {
        const runs = await claims.expired(BATCH)
        if (runs.length > 0) {
          await claims.settle(
            runs.map((run) => ({
              id: run.id,
              fence: run.fence,
              workerId,
              onlyExpired: true,
              verdict: settle(run, { kind: 'lost' }, random()),
            })),
          )
        }
        if (runs.length < BATCH) return POLL_MS
      }
    },
  }
}
