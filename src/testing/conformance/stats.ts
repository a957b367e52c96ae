/** Sums over what has ended: each end counts once, in the stretch and in the scopes it belongs to, before and after it is summed up. */
import { expect } from 'vitest'
import {
  DURATION_BOUNDS,
  LATENESS_BOUNDS,
  STATS_BUCKET_MS,
  type Stats,
  type StatsScope,
} from '../../store/contract/stats.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Group, Subject } from './harness.ts'
import {
  againIn,
  CANCELLED,
  claimed,
  DAY,
  enqueued,
  FAILED,
  HOUR,
  MINUTE,
  newRun,
  nonRun,
  planFor,
  plannedAhead,
  putNew,
  running,
  SECOND,
  SUCCEEDED,
  settled,
  settlement,
} from './samples.ts'

/** To the beginning of the next stretch. */
async function toStretch({ store, advance }: Subject): Promise<number> {
  const now = await store.now()
  const at = (Math.floor(now / STATS_BUCKET_MS) + 1) * STATS_BUCKET_MS
  await advance(at - now)
  return at
}

/** Step by step until all is summed up. */
async function rolled(store: Store): Promise<{ untilAt: number; steps: number }> {
  for (let steps = 1; steps <= 100; steps += 1) {
    const { untilAt, more } = await store.stats.roll()
    if (!more) return { untilAt, steps }
  }
  throw new Error('summing up did not come to an end')
}

const ALWAYS = { fromAt: 0, toAt: 5e12 }
const sumsOf = (store: Store, scope: StatsScope = 'all'): Promise<Stats[]> => store.stats.read(scope, ALWAYS)

const inClass = (bounds: readonly number[], places: Readonly<Record<number, number>>): number[] =>
  Array.from({ length: bounds.length + 1 }, (_, place) => places[place] ?? 0)

/** Before and after all is summed up. */
async function both(subject: Subject, prove: () => Promise<void>): Promise<void> {
  await prove()
  await subject.advance(STATS_BUCKET_MS + 11 * SECOND)
  await rolled(subject.store)
  await prove()
}

export const statsGroup: Group = (promise) => {
  promise(
    'counts each end once, with attempts, lateness and duration in their classes',
    { kills: 'an end is counted in the wrong class' },
    async (subject) => {
      const { store, advance } = subject
      const at = await toStretch(subject)
      const quick = await running(store)
      await advance(5)
      await settled(store, quick, SUCCEEDED)
      await enqueued(store, { queue: 'late' })
      await advance(26)
      const [late] = await claimed(store, { wanted: [{ queue: 'late', limit: 1 }] })
      await advance(6)
      await settled(store, late!, FAILED)
      const again = await running(store)
      await settled(store, again, againIn(0))
      const [second] = await claimed(store, { wanted: [{ queue: again.queue, limit: 1 }] })
      await settled(store, second!, CANCELLED)
      await both(subject, async () =>
        expect(await sumsOf(store)).toEqual([
          {
            ...{ at, succeeded: 1, failed: 1, cancelled: 1, skipped: 0, missed: 0, attempts: 4, doubled: 0 },
            ...{ lateness: inClass(LATENESS_BOUNDS, { 0: 2, 3: 1 }), durationSumMs: 11 },
            durations: inClass(DURATION_BOUNDS, { 0: 2, 1: 1 }),
            ...{ latenessMaxMs: 26, durationMaxMs: 6 },
          },
        ]),
      )
    },
  )

  promise(
    'keeps the longest lateness and duration of a stretch, above the last class too',
    { kills: 'the longest of a stretch is not kept' },
    async (subject) => {
      const { store, advance } = subject
      await toStretch(subject)
      for (const minutes of [0, 8, 3]) {
        const at = await toStretch(subject)
        await enqueued(store)
        await advance(minutes * MINUTE)
        const [late] = await claimed(store)
        await advance((10 - minutes) * MINUTE)
        await settled(store, late!, SUCCEEDED)
        const { lateness, durations } = { lateness: minutes * MINUTE, durations: (10 - minutes) * MINUTE }
        await both(subject, async () => {
          const ended = (await sumsOf(store)).find((sum) => sum.at === at + 2 * STATS_BUCKET_MS)
          expect(ended).toMatchObject({ latenessMaxMs: lateness, durationMaxMs: durations })
        })
      }
    },
  )

  promise(
    'counts what never began without lateness and duration',
    { kills: 'what never began counts as begun' },
    async (subject) => {
      const { store } = subject
      await toStretch(subject)
      await store.runs.cancel(await enqueued(store), 'ana')
      await both(subject, async () => {
        const [sum] = await sumsOf(store)
        expect(sum).toMatchObject({ cancelled: 1, attempts: 0, durationSumMs: 0 })
        expect(sum!.lateness).toEqual(inClass(LATENESS_BOUNDS, {}))
        expect(sum!.durations).toEqual(inClass(DURATION_BOUNDS, {}))
      })
    },
  )

  promise(
    'notices two runs of one occurrence, and takes no backfill for one',
    { kills: 'a double fire goes unnoticed' },
    async (subject) => {
      const { store, advance } = subject
      await toStretch(subject)
      const { schedule, firstAt } = await plannedAhead(store, 1)
      const again = {
        schedule: { id: schedule.id, key: 'sync', revision: 1 },
        slot: { scheduledAt: firstAt, slotStartAt: null },
      }
      await advance(MINUTE)
      await settled(store, (await claimed(store))[0]!, SUCCEEDED)
      await settled(store, await running(store, { ...again, trigger: 'backfill' }), SUCCEEDED)
      await advance(STATS_BUCKET_MS)
      await settled(store, await running(store, { ...again, trigger: 'manual' }), SUCCEEDED)
      await advance(STATS_BUCKET_MS + 11 * SECOND)
      await rolled(store)
      expect((await sumsOf(store)).map(({ doubled }) => doubled)).toEqual([0, 1])
    },
  )

  promise(
    'counts by workspace, job and queue as well',
    { kills: 'a scope has what is not its own' },
    async (subject) => {
      const { store } = subject
      await toStretch(subject)
      const ends = [
        { workspace: 'a', job: 'x', queue: 'q1' },
        { workspace: 'a', job: 'y', queue: 'q2' },
        { workspace: 'b:c', job: 'x', queue: 'q2' },
      ]
      for (const end of ends) await settled(store, await running(store, end), SUCCEEDED)
      const counts = [3, 2, 1, 2, 1, 1, 2, 0]
      const scopes = ['all', 'workspace:a', 'workspace:b:c', 'job:x', 'job:y', 'queue:q1', 'queue:q2', 'job:a'] as const
      await both(subject, async () => {
        const found = await Promise.all(scopes.map((scope) => sumsOf(store, scope)))
        expect(found.map(([sum]) => sum?.succeeded ?? 0)).toEqual(counts)
      })
    },
  )

  promise(
    'has one sum for each stretch in which anything ended, and those of a span only',
    { kills: 'stretches run into each other' },
    async (subject) => {
      const { store, advance } = subject
      const at = await toStretch(subject)
      await settled(store, await running(store), SUCCEEDED)
      await advance(STATS_BUCKET_MS - 1)
      await settled(store, await running(store), SUCCEEDED)
      await advance(1)
      await settled(store, await running(store), FAILED)
      await advance(3 * STATS_BUCKET_MS)
      await settled(store, await running(store), FAILED)
      const [second, last] = [at + STATS_BUCKET_MS, at + 4 * STATS_BUCKET_MS]
      await both(subject, async () => {
        const sums = await sumsOf(store)
        expect(sums.map((sum) => [sum.at, sum.succeeded, sum.failed])).toEqual([
          [at, 2, 0],
          [second, 0, 1],
          [last, 0, 1],
        ])
        const some = await store.stats.read('all', { fromAt: at + 1, toAt: last })
        expect(some.map((sum) => sum.at)).toEqual([second])
      })
    },
  )

  promise(
    'counts occurrences that became no run, and of a record that grew only what is new',
    { kills: 'a record that grows is counted again' },
    async (subject) => {
      const { store, advance } = subject
      const at = await toStretch(subject)
      const schedule = await putNew(store, { workspace: 'a' })
      const first = nonRun({ fromAt: 1, toAt: 5, count: 5, state: 'missed' })
      await store.planning.record([planFor(schedule, 1, { nonRuns: [first], watermarkAt: 5 })])
      const counted = async (): Promise<(readonly [number, number, number])[]> =>
        (await sumsOf(store, 'workspace:a')).map((sum) => [sum.at, sum.missed, sum.skipped])
      expect(await counted()).toEqual([[at, 5, 0]])
      await advance(STATS_BUCKET_MS + 11 * SECOND)
      await rolled(store)
      const next = (await store.schedules.get('a', 'sync'))!
      const more = [
        nonRun({ fromAt: 6, toAt: 7, count: 2, state: 'missed', afterAt: 5 }),
        nonRun({ fromAt: 8, toAt: 8, count: 1, state: 'skipped', reason: 'overlap' }),
      ]
      await store.planning.record([planFor(next, 1, { nonRuns: more, watermarkAt: 8 })])
      const all = [
        [at, 5, 0],
        [at + STATS_BUCKET_MS, 2, 1],
      ]
      expect(await counted()).toEqual(all)
      await advance(STATS_BUCKET_MS + 11 * SECOND)
      await rolled(store)
      expect(await counted()).toEqual(all)
    },
  )

  promise(
    'sums up what is over, and not before it has settled',
    { kills: 'a stretch is summed up before it is over' },
    async (subject) => {
      const { store, advance } = subject
      const at = await toStretch(subject)
      await settled(store, await running(store), SUCCEEDED)
      await advance(STATS_BUCKET_MS + 9 * SECOND)
      expect(await rolled(store)).toMatchObject({ untilAt: at })
      await advance(2 * SECOND)
      expect(await rolled(store)).toMatchObject({ untilAt: at + STATS_BUCKET_MS })
      await advance(STATS_BUCKET_MS)
      expect(await rolled(store)).toMatchObject({ untilAt: at + 2 * STATS_BUCKET_MS })
      expect(await sumsOf(store)).toMatchObject([{ at, succeeded: 1 }])
    },
  )

  promise(
    'counts nothing twice when two processes sum up at once, or one of them again',
    { kills: 'a stretch is added to itself', needs: 'second' },
    async (subject) => {
      const { store, advance } = subject
      const at = await toStretch(subject)
      const schedule = await putNew(store)
      await store.planning.record([
        planFor(schedule, 1, { nonRuns: [nonRun({ fromAt: 1, toAt: 5, count: 5 })], watermarkAt: 5 }),
      ])
      await settled(store, await running(store), SUCCEEDED)
      await advance(STATS_BUCKET_MS + 11 * SECOND)
      const other = await subject.second()
      await Promise.all([store.stats.roll(), other.stats.roll(), store.stats.roll(), other.stats.roll()])
      await rolled(other)
      await rolled(store)
      expect(await sumsOf(store)).toMatchObject([{ at, succeeded: 1, missed: 5 }])
    },
  )

  promise(
    'comes to an end over days of history, in several steps',
    { kills: 'the first summing up takes all at once' },
    async (subject) => {
      const { store, advance } = subject
      const first = await toStretch(subject)
      for (let day = 0; day < 3; day += 1) {
        await store.runs.enqueue(Array.from({ length: 700 }, () => newRun()))
        const runs = await claimed(store, { wanted: [{ queue: 'default', limit: 700 }] })
        await store.claims.settle(runs.map((run) => settlement(run, SUCCEEDED)))
        await advance(DAY)
      }
      const { steps, untilAt } = await rolled(store)
      expect(steps).toBeGreaterThan(1)
      expect(untilAt).toBe(first + 3 * DAY - STATS_BUCKET_MS)
      expect((await sumsOf(store)).map(({ at, succeeded }) => [at, succeeded])).toEqual(
        [0, 1, 2].map((day) => [first + day * DAY, 700]),
      )
    },
  )

  promise(
    'reads the last hour on the fly where summing up is far behind',
    { kills: 'a read goes through all of history' },
    async (subject) => {
      const { store, advance } = subject
      await toStretch(subject)
      await settled(store, await running(store), SUCCEEDED)
      await advance(2 * HOUR)
      await settled(store, await running(store), FAILED)
      expect(await sumsOf(store)).toMatchObject([{ succeeded: 0, failed: 1 }])
      await rolled(store)
      expect(await sumsOf(store)).toMatchObject([{ succeeded: 1 }, { failed: 1 }])
    },
  )

  promise('outlives the history it was made from', { kills: 'sums are forgotten with history' }, async (subject) => {
    const { store, advance } = subject
    await toStretch(subject)
    await settled(store, await running(store), SUCCEEDED)
    await advance(STATS_BUCKET_MS + 11 * SECOND)
    await rolled(store)
    const retention = {
      historyMs: DAY,
      journalMs: DAY,
      idempotencyMs: DAY,
      workersMs: DAY,
      orphansMs: DAY,
      endedMs: null,
    }
    await advance(399 * DAY)
    for (let step = 0; step < 20 && (await store.upkeep.tidy(retention)).more; step += 1);
    expect(await store.stats.read('all', ALWAYS)).toMatchObject([{ succeeded: 1 }])
    await advance(2 * DAY)
    for (let step = 0; step < 20 && (await store.upkeep.tidy(retention)).more; step += 1);
    expect(await store.stats.read('all', ALWAYS)).toEqual([])
  })

  promise('says how much there is, in all and of a workspace', { kills: 'sizes are of another' }, async ({ store }) => {
    const nothing = { schedules: 0, paused: 0, quarantined: 0, liveRuns: 0, finishedRuns: 0, estimated: false }
    expect(await store.stats.sizes()).toEqual(nothing)
    await plannedAhead(store, 2, { workspace: 'a', key: 'one' })
    await putNew(store, { workspace: 'a', key: 'two' })
    await store.schedules.pause('a', 'two', { reason: '', by: 'ana', until: null })
    const ill = await putNew(store, { workspace: 'b', key: 'three' })
    await store.planning.quarantine({ ...ill, nextAt: ill.nextAt! }, { code: 'CRON_INVALID', message: '' })
    await settled(store, await running(store, { workspace: 'a' }), SUCCEEDED)
    await settled(store, await running(store, { workspace: 'b' }), SUCCEEDED)
    await enqueued(store, { workspace: 'b' })
    const all = { schedules: 3, paused: 1, quarantined: 1, liveRuns: 3, finishedRuns: 2, estimated: false }
    expect(await store.stats.sizes()).toEqual(all)
    const ofA = { schedules: 2, paused: 1, quarantined: 0, liveRuns: 2, finishedRuns: 1, estimated: false }
    expect(await store.stats.sizes('a')).toEqual(ofA)
    expect(await store.stats.sizes('nobody')).toEqual(nothing)
  })

  promise('estimates what is too much to count', { kills: 'sizes are counted row by row' }, async ({ store }) => {
    for (let batch = 0; batch < 11; batch += 1)
      await store.runs.enqueue(
        Array.from({ length: 1000 }, () => newRun({ workspace: batch % 2 ? 'a' : 'b', due: { delayMs: 1000 } })),
      )
    const { liveRuns, estimated } = await store.stats.sizes()
    expect(estimated).toBe(true)
    expect(liveRuns).toBeGreaterThanOrEqual(10_000)
    await store.stats.sizes('a')
  })

  promise('says how the database is', { kills: 'health cannot be asked for' }, async ({ store }) => {
    await settled(store, await running(store), SUCCEEDED)
    const { bytes, deadTuples, oldestSnapshotMs } = await store.upkeep.health()
    expect(bytes).toBeGreaterThan(4096)
    for (const value of [deadTuples, oldestSnapshotMs]) expect(value === null || value >= 0).toBe(true)
  })

  promise(
    'knows its connections without using one',
    { kills: 'idle connections count as used', needs: 'second' },
    async (subject) => {
      // Opened by its address, so that its pool is its own.
      const store = await subject.second()
      await settled(store, await running(store), SUCCEEDED)
      // A store without a pool of its own answers null each time.
      const isIdle = (): boolean => {
        const pool = store.upkeep.pool()
        return pool === null || (pool.used === 0 && pool.waiting === 0)
      }
      await expect.poll(isIdle).toBe(true)
      const answers = Array.from({ length: 40 }, () => store.now())
      const busy = store.upkeep.pool()
      await Promise.all(answers)
      if (busy) expect(busy.used + busy.waiting).toBeGreaterThan(0)
      await expect.poll(isIdle).toBe(true)
    },
  )

  promise(
    'says which schema it has, and that a claim goes by its index',
    { kills: 'health does not look at the schema or the plan' },
    async ({ store }) => {
      const { version, schemaVersion, newestVersion, claimPlan, pooler } = await store.upkeep.health()
      expect(version).toMatch(/^\d+\.\d+/)
      expect(schemaVersion).toBeGreaterThan(0)
      expect(schemaVersion).toBe(newestVersion)
      expect(claimPlan).toBe('index')
      expect(pooler).not.toBe(true)
    },
  )
}
