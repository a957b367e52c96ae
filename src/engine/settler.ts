/** Writes verdicts in groups: whatever gathers while one write is in flight goes into the next, and a whole group that has gathered is written beside it; a dead database is asked again. */
import { isSameClaim } from '../run/run.ts'
import type { ClaimStore, Settlement } from '../store/contract/claims.ts'
import type { HistoryStore } from '../store/contract/history.ts'
import type { Timers } from '../time/timers.ts'
import type { BegunCounts } from './begun.ts'
import type { LeasedRun, SettleAnswer } from './leased-runs.ts'

export interface Settler {
  /** Writes the verdict of this claim and then calls its `onSettled`. */
  add(leased: LeasedRun): void
  /** Resolves when nothing is waiting or in flight. */
  idle(): Promise<void>
  /** Whether something is being written right now; not while it rests because the database is away. */
  isWriting(): boolean
  /** Forgets what is waiting, as a crash would. */
  crash(): void
}

export interface SettlerOptions {
  readonly claims: ClaimStore
  readonly history: HistoryStore
  readonly timers: Timers
  readonly workerId: string
  readonly begun: BegunCounts
  readonly onError: (error: unknown, retryInMs: number) => void
  /** A group was written after it had failed. */
  readonly onRecovery?: () => void
}

const MAX_BATCH = 2000
const RETRY_MS = 200

type Writer = 'first' | 'second'
/** How many verdicts each of the two waits for. */
const LEAST: Readonly<Record<Writer, number>> = { first: 1, second: MAX_BATCH }

export function createSettler(options: SettlerOptions): Settler {
  const { claims, history, timers, workerId, begun, onError, onRecovery } = options
  let waiting: LeasedRun[] = []
  /** The first writes whatever there is, the second only whole groups. */
  const writers: Record<Writer, Promise<void> | null> = { first: null, second: null }
  /** How many of them wait until they may ask again. */
  let resting = 0
  let crashed = false

  const settlementOf = ({ run, verdict, progress }: LeasedRun): Settlement => ({
    id: run.id,
    fence: run.fence,
    claimId: run.claimId,
    workerId,
    verdict: verdict!,
    progress,
  })

  /** After an error nobody knows whether the batch was written: what history already shows of our claim was. */
  const isWritten = async ({ run, verdict }: LeasedRun): Promise<boolean> => {
    const found = await history.run(run.id)
    if (found === null || found.finishedAt === null || !isSameClaim(found, run)) return false
    return verdict!.kind === 'final' && found.state === verdict!.state
  }

  /** Tells of those only when it knows of all: nobody may be told twice. */
  const stillOpen = async (batch: readonly LeasedRun[]): Promise<readonly LeasedRun[]> => {
    const written: boolean[] = []
    for (const leased of batch) written.push(await isWritten(leased))
    for (const leased of batch.filter((_, i) => written[i])) leased.onSettled!(leased, 'accepted')
    return batch.filter((_, i) => !written[i])
  }

  const write = async (batch: readonly LeasedRun[]): Promise<void> => {
    let open = batch
    for (let doubtful = false; open.length > 0 && !crashed; doubtful = true) {
      let answers: SettleAnswer[]
      try {
        if (doubtful) open = await stillOpen(open)
        const counts = begun.unreported()
        answers = await claims.settle(open.map(settlementOf), counts)
        begun.reported(counts)
      } catch (error) {
        onError(error, RETRY_MS)
        resting++
        await new Promise<void>((resolve) => timers.set(RETRY_MS, resolve))
        resting--
        continue
      }
      if (doubtful) onRecovery?.()
      for (let i = 0; i < open.length; i++) open[i]!.onSettled!(open[i]!, answers[i]!)
      return
    }
  }

  const drain = async (writer: Writer): Promise<void> => {
    while (waiting.length >= LEAST[writer] && !crashed) {
      const batch = waiting
      waiting = batch.splice(MAX_BATCH)
      await write(batch)
    }
    writers[writer] = null
  }

  return {
    add(leased) {
      if (crashed) return
      waiting.push(leased)
      // The next microtask gathers everything that finishes in this turn.
      writers.first ??= Promise.resolve('first' as const).then(drain)
      if (waiting.length >= LEAST.second) writers.second ??= Promise.resolve('second' as const).then(drain)
    },
    async idle() {
      while (writers.first || writers.second) await Promise.all([writers.first, writers.second])
    },
    isWriting: () => (writers.first !== null || writers.second !== null) && resting === 0,
    crash() {
      crashed = true
      waiting = []
    },
  }
}
