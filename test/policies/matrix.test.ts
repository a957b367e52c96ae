/** Every overlap policy with every catch-up policy, every kind of timing, every point to crash at, on every store: no cell is missing. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { schedule } from '../../src/index.ts'
import type { RecordedNonRun, SlotRun } from '../../src/store/contract/history.ts'
import type { Store } from '../../src/store/contract/store.ts'
import { startedIn, type TestEverytick } from '../../src/testing/test-everytick.ts'
import { PLACES, type Place } from './places.ts'
import { createStage, overlaps, type Stage, unknownRuns } from './stage.ts'

const OVERLAPS = ['skip', 'queue', 'queue_one', 'cancel_previous', 'allow'] as const
const CATCH_UPS = ['none', 'latest', 'all'] as const
const KINDS = {
  cron: { cron: '* * * * *', timezone: 'Europe/Berlin' },
  interval: { every: '1m' },
  once: { at: '2027-03-28T00:58:00Z' },
  any: { any: [{ cron: '* * * * *' }, { every: '90s' }] },
} as const

/** In the middle of a clock change, so that no cell is spared that either. */
const START = Date.parse('2027-03-28T00:55:30Z')
const MINUTE = 60_000
/** Slots at minutes 56, 57 and 58 come before the crash, which is in force from then on. */
const CRASH_AT = START + 3 * MINUTE

type Crash = (world: World) => Promise<void>
interface World {
  readonly t: TestEverytick
  readonly stage: Stage
  readonly place: Place
  readonly mute: Mute
}
/** While set, verdicts go nowhere, as on a connection that broke. */
interface Mute {
  settle: boolean
}

const die = async ({ t, stage }: World): Promise<void> => {
  await t.crash()
  stage.died()
}

const CRASHES: Readonly<Record<string, Crash>> = {
  nowhere: async () => {},
  'before planning': async (world) => {
    await die(world)
    await world.t.advance('5m')
  },
  'after planning': async (world) => {
    // The next minute is planned ten seconds ahead, and nobody has claimed it.
    await world.t.advance('25s')
    await die(world)
    await world.t.advance('5m')
  },
  'after the claim': async (world) => {
    await world.t.advance('25s')
    await die(world)
    const { store, clock, moved } = world.place
    await moved?.(clock.now() + 6000)
    clock.moveBy(6000)
    // A worker that dies between the claim and the first line of the handler.
    await store.claims.claim({ workerId: 'ghost', leaseMs: 15_000, wanted: [{ queue: 'default', limit: 10_000 }] })
    await world.t.advance('5m')
  },
  'in the middle of the work': async (world) => {
    await world.t.advance('1m')
    await die(world)
    await world.t.advance('5m')
  },
  'after the work, before its result is written': async (world) => {
    world.mute.settle = true
    world.stage.lengthMs = 0
    await world.t.advance('1m')
    world.mute.settle = false
    await die(world)
    await world.t.advance('5m')
  },
}

function muted(store: Store, mute: Mute): Store {
  const settle: Store['claims']['settle'] = (list, begun) =>
    mute.settle ? new Promise(() => {}) : store.claims.settle(list, begun)
  return { ...store, claims: { ...store.claims, settle } }
}

const CELLS = OVERLAPS.flatMap((overlap) =>
  CATCH_UPS.flatMap((catchUp) =>
    Object.keys(KINDS).map((kind) => ({ overlap, catchUp, kind: kind as keyof typeof KINDS })),
  ),
)
const nameOf = ({ overlap, catchUp, kind }: (typeof CELLS)[number]): string => `${overlap} ${catchUp} ${kind}`

interface Seen {
  readonly runs: readonly SlotRun[]
  readonly nonRuns: readonly RecordedNonRun[]
  /** Runs that records of skipped occurrences name, and that are not found by their id. */
  readonly unknown: readonly string[]
}

interface Played {
  readonly world: World
  readonly seen: ReadonlyMap<string, Seen>
}

async function play(open: (typeof PLACES)['SQLite'], crash: Crash): Promise<Played> {
  const place = await open(START)
  const stage = createStage(place.clock)
  const mute = { settle: false }
  const schedules = CELLS.map((cell) =>
    schedule({
      ...{ key: nameOf(cell), ...KINDS[cell.kind], job: stage.job },
      ...{ overlap: cell.overlap, catchUp: cell.catchUp },
    }),
  )
  const t = await startedIn(
    { ...place, store: muted(place.store, mute) },
    { jobs: [stage.job], schedules, queues: { default: 10_000 } },
  )
  const world = { t, stage, place, mute }
  stage.lengthMs = 2.5 * MINUTE
  await t.advanceTo(new Date(CRASH_AT))
  await crash(world)
  stage.lengthMs = 2.5 * MINUTE
  await t.advance('6m')
  // Nothing new comes while the last ones end.
  for (const cell of CELLS) await t.app.schedules.pause('default', nameOf(cell), { reason: 'the end' })
  stage.lengthMs = 0
  await t.advance('30m')
  const seen = new Map<string, Seen>()
  for (const cell of CELLS) {
    const { id } = (await t.app.schedules.get('default', nameOf(cell)))!
    const span = { afterAt: START - 1, untilAt: place.clock.now() }
    const runs = await place.store.history.slots(id, span, 1000)
    const nonRuns = await place.store.history.nonRuns(id)
    seen.set(nameOf(cell), { runs, nonRuns, unknown: await unknownRuns(place.store, nonRuns) })
  }
  return { world, seen }
}

describe.each(Object.entries(PLACES))('on %s', (_, open) => {
  const played = new Map<string, Played>()

  // All at once, since each waits for its database most of the time.
  beforeAll(async () => {
    const one = async ([point, crash]: [string, Crash]) => played.set(point, await play(open, crash))
    await Promise.all(Object.entries(CRASHES).map(one))
  }, 300_000)
  afterAll(async () => {
    for (const { world } of played.values()) {
      await world.t[Symbol.asyncDispose]()
      await world.place.close().catch(() => {})
    }
  })

  describe.each(Object.keys(CRASHES))('with a crash %s', (point) => {
    it('every occurrence of every cell is accounted for once', async () => {
      const { world } = played.get(point)!
      const report = await world.t.app.audit({ from: new Date(START), to: new Date(world.place.clock.now()) })
      expect(report).toMatchObject({
        schedules: CELLS.length,
        lostCount: 0,
        doubledCount: 0,
        unexplainedCount: 0,
        ok: true,
      })
    })

    it.each(CELLS.map((cell) => [nameOf(cell), cell] as const))('%s', (name, { overlap, catchUp, kind }) => {
      const { world, seen } = played.get(point)!
      const { runs, nonRuns, unknown } = seen.get(name)!
      const works = world.stage.works.filter((work) => work.schedule === name)
      const reasons = new Set(nonRuns.map(({ reason }) => reason))
      const made = runs.filter(({ trigger }) => trigger === 'catch_up')

      // Every run that was made has ended, and no occurrence has two.
      expect(runs.filter(({ finishedAt }) => finishedAt === null)).toEqual([])
      expect(new Set(runs.map(({ scheduledAt }) => scheduledAt)).size).toBe(runs.length)
      expect(runs.length).toBeGreaterThan(0)

      // Every record of a skipped occurrence names a run that exists.
      expect(unknown).toEqual([])

      // Overlap: two runs at work at once only where that is allowed, and there it happens.
      if (overlap !== 'allow') expect(overlaps(works, world.place.clock.now())).toEqual([])
      else if (kind !== 'once') expect(overlaps(works, world.place.clock.now())).not.toEqual([])
      if (overlap === 'queue' || overlap === 'allow') expect(reasons).not.toContain('overlap')
      else if (overlap !== 'cancel_previous' && kind !== 'once') expect(reasons).toContain('overlap')
      const cancelled = runs.filter(({ state }) => state === 'cancelled')
      if (overlap === 'cancel_previous' && kind !== 'once') expect(cancelled.length).toBeGreaterThan(0)
      else expect(cancelled).toEqual([])
      if (overlap === 'queue') {
        const begun = works.filter((work, i) => works.findIndex(({ run }) => run === work.run) === i)
        expect(begun.map(({ scheduledAt }) => scheduledAt)).toEqual(begun.map(({ scheduledAt }) => scheduledAt).sort())
      }

      // Catch-up: what passed during the outage.
      if (point === 'nowhere') expect(made).toEqual([])
      else if (kind !== 'once') {
        if (catchUp === 'none') expect(made).toEqual([])
        if (catchUp === 'latest') {
          expect(made).toHaveLength(1)
          expect(works.map(({ scheduledAt }) => scheduledAt)).toContain(made[0]!.scheduledAt)
        }
        if (catchUp !== 'all') expect(reasons).toContain('policy')
        else expect(reasons).not.toContain('policy')
        if (catchUp === 'all' && (overlap === 'queue' || overlap === 'allow' || overlap === 'skip'))
          expect(made.length).toBeGreaterThanOrEqual(3)
      } else expect(runs).toHaveLength(1)
    })
  })
})
