/** A simulation against the real engine: the same schedule, the same outages and the same work, for every overlap and catch-up policy. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineJob, schedule } from '../../src/index.ts'
import { type SimulatedEntry, simulate } from '../../src/observe/simulate.ts'
import type { Schedule } from '../../src/schedule/schedule.ts'
import { openSqlite } from '../../src/store/sqlite/store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { startedIn, type TestEverytick } from '../../src/testing/test-everytick.ts'

const OVERLAPS = ['skip', 'queue', 'queue_one', 'cancel_previous', 'allow'] as const
const CATCH_UPS = ['none', 'latest', 'all'] as const
const MINUTE = 60_000
const START = Date.parse('2027-03-28T00:50:30Z')
const END = START + 30 * MINUTE
const RETRY = { attempts: 3, backoff: 'fixed', baseMs: 20_000, maxMs: 20_000 } as const

/** The engine's, and the millisecond after it at which the test's clock stops to look. */
const LEASE_MS = 9001

interface Case {
  readonly durationsMs: readonly number[]
  readonly outages: readonly { readonly fromAt: number; readonly toAt: number }[]
  readonly extra: object
}

const at = (minutes: number, seconds = 0): number => START + minutes * MINUTE + seconds * 1000

const CASES: Readonly<Record<string, Case>> = {
  'short work, one outage': {
    durationsMs: [7000],
    outages: [{ fromAt: at(10, 3), toAt: at(18, 11) }],
    extra: {},
  },
  'work longer than its period, an outage in the middle of it': {
    durationsMs: [150_500],
    outages: [{ fromAt: at(10, 3), toAt: at(18, 11) }],
    extra: {},
  },
  'work of several lengths, an outage shorter than a lease and a long one': {
    durationsMs: [5300, 131_700, 70_900],
    outages: [
      { fromAt: at(7, 3), toAt: at(7, 9) },
      { fromAt: at(14, 41), toAt: at(21, 2) },
    ],
    extra: {},
  },
  'jitter, exclusions, a limit and a window': {
    durationsMs: [41_300],
    outages: [{ fromAt: at(6, 3), toAt: at(19, 17) }],
    extra: { jitter: '20s', catchUpWindow: '10m', catchUpLimit: 5, exclude: ['13-15 * * * *'], maxRuns: 15 },
  },
}

const CELLS = OVERLAPS.flatMap((overlap) => CATCH_UPS.map((catchUp) => ({ overlap, catchUp })))

describe.each(Object.entries(CASES))('a simulation of %s', (_, { durationsMs, outages, extra }) => {
  let t: TestEverytick
  const lived = new Map<string, Seen[]>()
  const stored = new Map<string, Schedule>()

  beforeAll(async () => {
    const begun = new Map<string, number>()
    const job = defineJob({
      name: 'work',
      retry: { attempts: 3, backoff: 'fixed', base: '20s', max: '20s' },
      run: (ctx) => {
        const key = ctx.schedule!.key
        const nth = begun.get(key) ?? 0
        begun.set(key, nth + 1)
        return new Promise<void>((resolve, reject) => {
          t.clock.timers.set(durationsMs[nth % durationsMs.length]!, resolve)
          ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))
        })
      },
    })
    const schedules = CELLS.map(({ overlap, catchUp }) =>
      schedule({ key: `${overlap} ${catchUp}`, cron: '* * * * *', job, overlap, catchUp, ...extra }),
    )
    const clock = fakeClock(START)
    // Nothing here waits for anything but the clock.
    const place = { store: await openSqlite({ path: ':memory:', clock }), clock, waitLimitMs: 0 }
    t = await startedIn(place, { jobs: [job], schedules, queues: { default: 10_000 } })
    for (const { fromAt, toAt } of outages) {
      await t.advanceTo(new Date(fromAt))
      await t.crash()
      await t.advanceTo(new Date(toAt))
    }
    await t.advanceTo(new Date(END))
    for (const { overlap, catchUp } of CELLS) {
      const key = `${overlap} ${catchUp}`
      const found = (await t.store.schedules.get('default', key))!
      stored.set(key, found)
      lived.set(key, await livedThrough(t, found))
    }
  }, 120_000)
  afterAll(async () => {
    await t?.[Symbol.asyncDispose]()
  })

  it.each(CELLS)('ends as the engine does with $overlap and $catchUp', ({ overlap, catchUp }) => {
    const key = `${overlap} ${catchUp}`
    const world = { fromAt: START, toAt: END, outages, durationsMs, retry: RETRY, leaseMs: LEASE_MS }
    const { entries } = simulate(stored.get(key)!, world)
    // What would come after the last run is on nobody's record.
    expect(entries.filter(({ reason }) => reason !== 'max_runs').map(seenOf)).toEqual(lived.get(key))
  })
})

type Seen = Pick<SimulatedEntry, 'scheduledAt' | 'outcome' | 'startedAt' | 'finishedAt'>

const seenOf = ({ scheduledAt, outcome, startedAt, finishedAt }: SimulatedEntry): Seen => ({
  ...{ scheduledAt, outcome, startedAt, finishedAt },
})

/** One per occurrence, as the store has it. */
async function livedThrough(t: TestEverytick, { id, key }: Schedule): Promise<Seen[]> {
  const runs = t.runs({ schedule: key }).map((run): Seen => {
    const words = { pending: 'waiting', running: 'running', succeeded: 'ran', failed: 'failed', cancelled: 'cancelled' }
    const outcome = run.state === 'succeeded' && run.trigger === 'catch_up' ? 'caught_up' : words[run.state as 'failed']
    return {
      scheduledAt: run.scheduledAt!.getTime(),
      outcome: outcome as Seen['outcome'],
      startedAt: run.startedAt?.getTime() ?? null,
      finishedAt: run.finishedAt?.getTime() ?? null,
    }
  })
  const none = (await t.store.history.nonRuns(id)).flatMap(({ fromAt, toAt, state }) => {
    const found: Seen[] = []
    for (let at = fromAt; at <= toAt; at += MINUTE)
      found.push({ scheduledAt: at, outcome: state, startedAt: null, finishedAt: null })
    return found
  })
  return [...runs, ...none]
    .filter(({ scheduledAt }) => scheduledAt <= END)
    .sort((a, b) => a.scheduledAt - b.scheduledAt)
}
