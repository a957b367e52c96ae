/** What alert rules have to know: what ended otherwise than well, what succeeded, was passed over, waits or runs, each within its span and no more than asked for. */
import { expect } from 'vitest'
import { DEFAULT_RETRY } from '../../run/retry.ts'
import type { Run } from '../../run/run.ts'
import { MOST_OF_ONE } from '../../store/contract/monitoring.ts'
import type { Group } from './harness.ts'
import {
  CANCELLED,
  claimed,
  enqueued,
  FAILED,
  HOUR,
  MINUTE,
  newId,
  nonRun,
  planFor,
  plannedAhead,
  putNew,
  running,
  SECOND,
  SUCCEEDED,
  settled,
} from './samples.ts'

const ALWAYS = { afterAt: 0, untilAt: 5e12 }

export const monitoringGroup: Group = (promise) => {
  promise(
    'tells which schedules and which jobs had runs that failed, each once, with the newest failure',
    { kills: 'failures of one subject are told one by one' },
    async ({ store, advance }) => {
      const schedule = await putNew(store, { workspace: 'a' })
      const ref = { id: schedule.id, key: 'sync', revision: 1 }
      const long = { kind: 'final', state: 'failed', error: { name: 'Late', message: 'x'.repeat(300) } } as const
      let last = ''
      for (const verdict of [FAILED, CANCELLED, long]) {
        await advance(SECOND)
        const run = await running(store, { workspace: 'a', schedule: ref, trigger: 'manual', job: 'sync-crm' })
        await settled(store, run, verdict)
        last = run.id
      }
      const { finishedAt } = (await store.history.run(last))!
      await advance(SECOND)
      for (const job of ['mail', 'mail', 'report']) await settled(store, await running(store, { job }), FAILED)
      await advance(SECOND)
      await settled(store, await running(store, { job: 'other' }), SUCCEEDED)
      await settled(store, await running(store, { job: 'stopped' }), CANCELLED)
      const found = await store.monitoring.unsuccessful(ALWAYS, 100)
      expect(found.map(({ job, failed }) => [job, failed]).sort()).toEqual([
        ['mail', 2],
        ['report', 1],
        ['stopped', 0],
        ['sync-crm', 2],
      ])
      expect(found.find(({ schedule }) => schedule !== null)).toEqual({
        ...{ workspace: 'a', job: 'sync-crm', schedule: { id: schedule.id, key: 'sync' }, failed: 2 },
        lastFailure: { runId: last, at: finishedAt, error: { name: 'Late', message: 'x'.repeat(200) } },
      })
      expect(found.find(({ job }) => job === 'mail')).toMatchObject({
        schedule: null,
        lastFailure: { error: { name: 'TypeError', message: 'rate is undefined' } },
      })
      expect(found.find(({ job }) => job === 'stopped')!.lastFailure).toBeNull()
    },
  )

  promise(
    'tells of failures within a span only, the newest of them, and of no schedule that is gone',
    { kills: 'failures are told beyond their span' },
    async ({ store, advance }) => {
      const schedule = await putNew(store)
      const ref = { id: schedule.id, key: 'sync', revision: 1 }
      await settled(store, await running(store, { schedule: ref, trigger: 'manual' }), FAILED)
      const begin = await store.now()
      for (const job of ['one', 'two', 'three']) {
        await advance(SECOND)
        await settled(store, await running(store, { job }), FAILED)
      }
      const jobs = async (from: number, to: number, limit = 100): Promise<string[]> => {
        const span = { afterAt: begin + from * SECOND, untilAt: begin + to * SECOND }
        return (await store.monitoring.unsuccessful(span, limit)).map(({ job }) => job)
      }
      expect(await jobs(1, 2)).toEqual(['two'])
      expect(await jobs(-HOUR, 9, 2)).toEqual(['three', 'two'])
      expect(await jobs(-HOUR, 9)).toHaveLength(4)
      await store.schedules.remove('default', 'sync', 'ana')
      expect(await jobs(-HOUR, 9)).toEqual(['three', 'two', 'one'])
    },
  )

  promise(
    'tells when a schedule last succeeded and how long it took, whether it fired or was triggered',
    { kills: 'a failure counts as a success' },
    async ({ store, advance }) => {
      const { schedule } = await plannedAhead(store, 3)
      const idle = await putNew(store, { key: 'idle' })
      const successes = async () =>
        (await store.monitoring.successes([schedule.id, idle.id, newId(), 'no id'])) as Map<string, unknown>
      expect(await successes()).toEqual(new Map())
      let at = 0
      for (const [verdict, ms] of [
        [SUCCEEDED, SECOND],
        [SUCCEEDED, 3 * SECOND],
        [FAILED, SECOND],
      ] as const) {
        await advance(MINUTE - ms)
        await advance(ms)
        const [run] = await claimed(store)
        await advance(ms)
        await settled(store, run!, verdict)
        if (verdict === SUCCEEDED) at = (await store.history.run(run!.id))!.finishedAt!
      }
      const [one] = [...(await successes()).values()] as { at: number; durationsMs: number[] }[]
      expect(one!.at).toBe(at)
      expect(one!.durationsMs).toHaveLength(2)
      expect(one!.durationsMs[0]).toBeGreaterThanOrEqual(3 * SECOND)
      await advance(SECOND)
      const ref = { id: schedule.id, key: 'sync', revision: 1 }
      const byHand = await running(store, { schedule: ref, trigger: 'manual' })
      await settled(store, byHand, SUCCEEDED)
      const { finishedAt } = (await store.history.run(byHand.id))!
      expect(await store.monitoring.successes([schedule.id])).toMatchObject(
        new Map([[schedule.id, { at: finishedAt }]]),
      )
    },
  )

  promise(
    'tells which schedules had occurrences that were missed or skipped behind a run, and not those left out on purpose',
    { kills: 'what a pause left out counts as passed over' },
    async ({ store, advance }) => {
      const begin = await store.now()
      const reasons = [
        ['skipped', 'overlap'],
        ['missed', 'policy'],
        ['skipped', 'paused'],
        ['skipped', 'excluded'],
      ] as const
      const ids: string[] = []
      for (const [state, reason] of reasons) {
        await advance(SECOND)
        const schedule = await putNew(store, { key: `${reason}` })
        const nonRuns = [nonRun({ state, reason, fromAt: 1, toAt: 5, count: 5 })]
        await store.planning.record([planFor(schedule, 0, { nonRuns, watermarkAt: 5 })])
        ids.push(schedule.id)
      }
      const passed = (from: number, to: number, limit = 10) =>
        store.monitoring
          .passedOver({ afterAt: begin + from * SECOND, untilAt: begin + to * SECOND }, limit)
          .then((found) => found.map(({ id }) => id))
      expect((await passed(-1, HOUR)).sort()).toEqual(ids.slice(0, 2).sort())
      expect(await passed(-1, 1.5)).toEqual([ids[0]])
      expect(await passed(2.5, HOUR)).toEqual([])
      expect(await passed(-1, HOUR, 2)).toEqual([])
    },
  )

  promise(
    'names the schedules with runs that wait for their next attempt, the longest waiting first',
    { kills: 'a run that executes counts as one that waits for its retry' },
    async ({ store, advance }) => {
      const begin = await store.now()
      const verdict = { kind: 'retry', delayMs: 2 * MINUTE, reason: 'retry', counts: true, error: null } as const
      const verdicts = [
        verdict,
        { ...verdict, reason: 'lost' },
        { ...verdict, reason: 'timed_out' },
        { ...verdict, reason: 'postponed', counts: false },
        { ...verdict, reason: 'released', counts: false },
      ] as const
      const ids: string[] = []
      for (const each of verdicts) {
        await advance(SECOND)
        const schedule = await putNew(store, { key: each.reason })
        const ref = { id: schedule.id, key: each.reason, revision: 1 }
        await settled(store, await running(store, { schedule: ref, trigger: 'manual', queue: 'q' }), each)
        ids.push(schedule.id)
      }
      await settled(store, await running(store, { queue: 'q' }), verdict)
      const retrying = async (from: number, to: number, limit = 100): Promise<string[]> => {
        const span = { afterAt: begin + from * SECOND, untilAt: begin + to * SECOND }
        return (await store.monitoring.retrying(span, limit)).map(({ id }) => id)
      }
      expect(await retrying(-1, HOUR)).toEqual(ids.slice(0, 4))
      expect(await store.monitoring.retrying(ALWAYS, 100)).toMatchObject(Array(4).fill({ workspace: 'default' }))
      expect(await retrying(-1, HOUR, 2)).toEqual(ids.slice(2, 4))
      expect(await retrying(-1, 1.5)).toEqual(ids.slice(0, 1))
      expect(await retrying(4.5, HOUR)).toEqual([])
      await advance(3 * MINUTE)
      const runs = await claimed(store, { wanted: [{ queue: 'q', limit: 10 }] })
      expect(runs).toHaveLength(6)
      expect(await retrying(-1, HOUR)).toEqual([])
      for (const run of runs) await settled(store, run, SUCCEEDED)
      expect(await retrying(-1, HOUR)).toEqual([])
    },
  )

  promise(
    'tells which schedules have runs that are due and never began, the longest waiting first',
    { kills: 'runs that wait are those that began' },
    async ({ store, advance }) => {
      const one = await plannedAhead(store, 3)
      await advance(SECOND)
      const other = await plannedAhead(store, 1, { key: 'other', priority: 9 })
      await plannedAhead(store, 1, { key: 'elsewhere', queue: 'elsewhere' })
      const retried = await plannedAhead(store, 1, { key: 'retried', queue: 'alone' })
      await enqueued(store)
      await advance(2 * MINUTE)
      const [run] = await claimed(store, { wanted: [{ queue: 'alone', limit: 1 }] })
      await settled(store, run!, { kind: 'retry', delayMs: 0, reason: 'retry', counts: true, error: null })
      const now = await store.now()
      const waiting = (queue: string, dueBefore = now) => store.monitoring.waiting(queue, { dueBefore, limit: 10 })
      const named = ({ schedule: { id, workspace, key }, firstAt }: typeof one) => ({
        id,
        workspace,
        key,
        dueAt: firstAt,
      })
      expect(await waiting('default')).toEqual([named(one), named(other)].sort((a, b) => a.dueAt - b.dueAt))
      expect(await waiting('default', one.firstAt - SECOND)).toEqual([])
      expect(await waiting('alone')).toEqual([])
      expect(retried.ids).toHaveLength(1)
    },
  )

  promise(
    'tells which runs have been running the longest, also those that were handed over',
    { kills: 'runs that have just begun count as long' },
    async ({ store, advance }) => {
      const kept = async ({ id, fence, claimId }: Run) =>
        store.claims.renew(10 * MINUTE, [{ id, fence, claimId, progress: null }])
      const schedule = await putNew(store, { workspace: 'a' })
      const ref = { id: schedule.id, key: 'sync', revision: 1 }
      const long = await running(store, {
        workspace: 'a',
        schedule: ref,
        trigger: 'manual',
        policy: { retry: DEFAULT_RETRY, timeoutMs: HOUR },
      })
      await kept(long)
      await advance(SECOND)
      const handed = await running(store)
      const { id, fence, claimId } = handed
      await store.claims.handOver([{ id, fence, claimId }], 10 * MINUTE)
      await advance(SECOND)
      const short = await running(store)
      await kept(short)
      const found = await store.monitoring.running({ startedBefore: handed.startedAt!, limit: 10 })
      expect(found).toMatchObject([
        {
          ...{ id: long.id, workspace: 'a', job: long.job, schedule: { id: schedule.id, key: 'sync' } },
          ...{ workerId: 'w1', timeoutMs: HOUR, startedAt: long.startedAt },
        },
        { id: handed.id, workerId: null, schedule: null, timeoutMs: null },
      ])
      expect(await store.monitoring.running({ startedBefore: short.startedAt!, limit: 1 })).toHaveLength(1)
    },
  )

  promise(
    'tells of which jobs runs wait that a worker gave back because it does not have the job',
    { kills: 'runs of an unknown job are told when they are gone' },
    async ({ store, advance }) => {
      const unknown = { kind: 'retry', delayMs: 5000, reason: 'unknown_job', counts: false, error: null } as const
      const giveBack = async (run: Awaited<ReturnType<typeof running>>) => settled(store, run, unknown)
      const begin = await store.now()
      await giveBack(await running(store, { job: 'typo', queue: 'q' }))
      await giveBack(await running(store, { job: 'typo', queue: 'q' }))
      await giveBack(await running(store, { job: 'gone' }))
      await settled(store, await running(store, { job: 'known' }), { ...unknown, reason: 'retry', counts: true })
      const found = await store.monitoring.unknownJobs(ALWAYS, 100)
      expect(found).toMatchObject([
        { job: 'gone', runs: 1, sinceAt: begin },
        { job: 'typo', queue: 'q', runs: 2 },
      ])
      expect(await store.monitoring.unknownJobs({ afterAt: begin + HOUR, untilAt: begin + 2 * HOUR }, 100)).toEqual([])
      await advance(MINUTE)
      for (const run of await claimed(store, { wanted: [{ queue: 'q', limit: 5 }] }))
        await settled(store, run, SUCCEEDED)
      expect((await store.monitoring.unknownJobs(ALWAYS, 100)).map(({ job }) => job)).toEqual(['gone'])
    },
  )

  promise(
    'answers about every workspace, however much there is to tell of one',
    { kills: 'one workspace fills the places of the others' },
    async ({ store, advance }) => {
      const begin = await store.now()
      const many = Array.from({ length: MOST_OF_ONE + 5 }, (_, i) => `job-${i}`)
      const longest = await running(store, { workspace: 'quiet', job: 'mine', queue: 'quiet' })
      await settled(store, longest, FAILED)
      await advance(SECOND)
      for (const job of many) await settled(store, await running(store, { workspace: 'loud', job }), FAILED)
      const failed = await store.monitoring.unsuccessful(ALWAYS, 10_000)
      expect(failed.filter(({ workspace }) => workspace === 'loud')).toHaveLength(MOST_OF_ONE)
      expect(failed.filter(({ workspace }) => workspace === 'quiet')).toMatchObject([{ job: 'mine' }])

      for (const [workspace, count] of [
        ['loud', MOST_OF_ONE + 5],
        ['quiet', 1],
      ] as const) {
        for (let i = 0; i < count; i++) {
          const schedule = await putNew(store, { workspace, key: `s${i}` })
          const nonRuns = [nonRun({ state: 'missed', reason: 'policy', fromAt: 1, toAt: 5, count: 5 })]
          await store.planning.record([planFor(schedule, 0, { nonRuns, watermarkAt: 5 })])
        }
        await advance(SECOND)
      }
      const span = { afterAt: begin - HOUR, untilAt: begin + HOUR }
      const passed = await store.monitoring.passedOver(span, 10_000)
      expect(passed.filter(({ workspace }) => workspace === 'loud')).toHaveLength(MOST_OF_ONE)
      expect(passed.filter(({ workspace }) => workspace === 'quiet')).toHaveLength(1)
    },
  )
}
