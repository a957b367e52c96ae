/** A stage for policies: a job whose length the test sets, and a record of who worked when, kept outside of every store. */
import { defineJob, type Job } from '../../src/index.ts'
import type { RecordedNonRun } from '../../src/store/contract/history.ts'
import type { Store } from '../../src/store/contract/store.ts'
import type { FakeClock } from '../../src/testing/fake-clock.ts'

/** One attempt, as the handler itself saw it; the end is null while it works, and for ever when its process died. */
export interface Work {
  readonly schedule: string
  readonly run: string
  readonly scheduledAt: number | null
  readonly fence: number
  readonly from: number
  to: number | null
  how: 'working' | 'done' | 'aborted' | 'failed' | 'died'
}

export interface Stage {
  readonly job: Job
  readonly works: readonly Work[]
  /** How long the work takes from now on. */
  lengthMs: number
  /** Whether the next attempts throw. */
  failing: boolean
  /** Everything in flight ends here and now, without a word to anybody. */
  died(): void
}

export function createStage(clock: FakeClock): Stage {
  const works: Work[] = []
  const stage: Stage = {
    lengthMs: 0,
    failing: false,
    works,
    job: defineJob({
      name: 'work',
      retry: { attempts: 3, backoff: 'fixed', base: '10s', max: '10s' },
      async run(ctx) {
        const { id, fence, scheduledAt } = ctx.run
        const work: Work = {
          ...{ schedule: ctx.schedule?.key ?? '', run: id, scheduledAt: scheduledAt?.getTime() ?? null, fence },
          ...{ from: clock.now(), to: null, how: 'working' },
        }
        works.push(work)
        const { signal } = ctx
        const aborted = await new Promise<boolean>((resolve) => {
          if (signal.aborted) return resolve(true)
          if (stage.lengthMs === 0) return resolve(false)
          clock.timers.set(stage.lengthMs, () => resolve(false))
          signal.addEventListener('abort', () => resolve(true))
        })
        if (work.how === 'died') return
        work.to = clock.now()
        work.how = aborted ? 'aborted' : stage.failing ? 'failed' : 'done'
        if (aborted) throw signal.reason
        if (stage.failing) throw new Error('the stage is failing')
      },
    }),
    died() {
      for (const work of works) {
        if (work.how !== 'working') continue
        work.to = clock.now()
        work.how = 'died'
      }
    },
  }
  return stage
}

/** Pairs of attempts of one schedule, of different runs, that were at work at the same time. */
export function overlaps(works: readonly Work[], now: number): [Work, Work][] {
  const found: [Work, Work][] = []
  const last = new Map<string, Work>()
  for (const work of [...works].sort((a, b) => a.from - b.from)) {
    const before = last.get(work.schedule)
    if (before && before.run !== work.run && (before.to ?? now) > work.from) found.push([before, work])
    if (!before || (work.to ?? now) >= (before.to ?? now)) last.set(work.schedule, work)
  }
  return found
}

/** Runs that records of skipped occurrences name as their reason, and that are not found by their id. */
export async function unknownRuns(store: Store, nonRuns: readonly RecordedNonRun[]): Promise<string[]> {
  const named = new Set(nonRuns.filter(({ reason }) => reason === 'overlap').map(({ detail }) => detail))
  const unknown: string[] = []
  for (const id of named) if ((await store.history.run(id)) === null) unknown.push(id)
  return unknown
}
