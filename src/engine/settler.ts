/** Writes verdicts in groups: whatever gathers while one write is under way goes into the next; a dead database is asked again. */
import type { ClaimStore, Settlement } from '../store/contract/claims.ts'
import type { HistoryStore } from '../store/contract/history.ts'
import type { Timers } from '../time/timers.ts'

export type SettleAnswer = 'accepted' | 'refused'

export interface Settler {
  add(settlement: Settlement): Promise<SettleAnswer>
  /** Resolves when nothing is waiting or under way. */
  idle(): Promise<void>
  /** Forgets what is waiting, as a crash would. */
  crash(): void
}

export interface SettlerOptions {
  readonly claims: ClaimStore
  readonly history: HistoryStore
  readonly timers: Timers
  readonly onError: (error: unknown, retryInMs: number) => void
}

interface Waiting {
  readonly settlement: Settlement
  readonly answer: (answer: SettleAnswer) => void
}

const MAX_BATCH = 1000
const RETRY_MS = 200

export function createSettler({ claims, history, timers, onError }: SettlerOptions): Settler {
  let waiting: Waiting[] = []
  let working: Promise<void> | null = null
  let crashed = false

  /** After an error nobody knows whether the batch was written: what history already shows under our fence was. */
  const stillOpen = async (batch: readonly Waiting[]): Promise<Waiting[]> => {
    const open: Waiting[] = []
    for (const item of batch) {
      const run = await history.run(item.settlement.id)
      const written = run !== null && run.finishedAt !== null && run.fence === item.settlement.fence
      if (written && item.settlement.verdict.kind === 'final' && run.state === item.settlement.verdict.state)
        item.answer('accepted')
      else open.push(item)
    }
    return open
  }

  const write = async (batch: Waiting[]): Promise<void> => {
    for (let open = batch, doubtful = false; open.length > 0 && !crashed; doubtful = true) {
      try {
        if (doubtful) open = await stillOpen(open)
        const answers = await claims.settle(open.map(({ settlement }) => settlement))
        for (const [i, item] of open.entries()) item.answer(answers[i]!)
        return
      } catch (error) {
        onError(error, RETRY_MS)
        await new Promise<void>((resolve) => timers.set(RETRY_MS, resolve))
      }
    }
  }

  const drain = async (): Promise<void> => {
    while (waiting.length > 0 && !crashed) {
      const batch = waiting.slice(0, MAX_BATCH)
      waiting = waiting.slice(MAX_BATCH)
      await write(batch)
    }
    working = null
  }

  return {
    add(settlement) {
      return new Promise((answer) => {
        if (crashed) return
        waiting.push({ settlement, answer })
        // The next microtask gathers everything that finishes in this turn.
        working ??= Promise.resolve().then(drain)
      })
    },
    async idle() {
      while (working) await working
    },
    crash() {
      crashed = true
      waiting = []
    },
  }
}
