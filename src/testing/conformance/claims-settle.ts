/** Settlements: accepted once, under the current fence only; everything else is refused, changes nothing, and is journaled. */
import { expect } from 'vitest'
import type { Verdict } from '../../run/settle.ts'
import type { Group } from './harness.ts'
import {
  againIn,
  CANCELLED,
  claimed,
  FAILED,
  HOUR,
  MINUTE,
  newId,
  newRun,
  running,
  SUCCEEDED,
  settled,
  settlement,
} from './samples.ts'

export const claimsSettleGroup: Group = (promise) => {
  for (const [state, verdict, outcome] of [
    ['succeeded', SUCCEEDED, { result: { sent: 3 }, error: null }],
    ['failed', FAILED, { result: null, error: (FAILED as { error?: unknown }).error }],
    ['cancelled', CANCELLED, { result: null }],
  ] as const) {
    promise(
      `moves a run that ${state} to history, with how and when it ended`,
      { kills: 'a finished run stays in the hot table' },
      async ({ store, advance }) => {
        const run = await running(store)
        await advance(MINUTE / 2)
        const now = await store.now()
        expect(await settled(store, run, verdict)).toBe('accepted')
        const ended = (await store.history.run(run.id))!
        expect(ended).toMatchObject({ id: run.id, state, ...outcome, attempt: 1, fence: run.fence })
        expect(ended).toMatchObject({ startedAt: run.startedAt, payload: run.payload, createdAt: run.createdAt })
        expect(ended.finishedAt).toBeGreaterThanOrEqual(now)
        await advance(HOUR)
        expect(await store.claims.expired(10)).toEqual([])
        expect(await claimed(store, { wanted: [{ queue: run.queue, limit: 9 }] })).toEqual([])
        expect(await store.history.journal({ runId: run.id })).toEqual([])
      },
    )
  }

  promise(
    'keeps what a cancelled run returned, also where it is refused',
    { kills: 'the result of a cancelled run is lost' },
    async ({ store }) => {
      const run = await running(store)
      const verdict: Verdict = { kind: 'final', state: 'cancelled', result: { sent: 2 } }
      expect(await settled(store, run, verdict)).toBe('accepted')
      expect(await store.history.run(run.id)).toMatchObject({ state: 'cancelled', result: { sent: 2 }, error: null })
      expect(await settled(store, run, verdict)).toBe('refused')
      expect(await store.history.journal({ runId: run.id })).toMatchObject([{ kind: 'refused', data: { verdict } }])
    },
  )

  promise(
    'makes a run pending again, due after the delay by its own clock, and says why',
    { kills: 'a retry is due at once' },
    async ({ store, advance }) => {
      const run = await running(store)
      await advance(MINUTE / 2)
      const now = await store.now()
      expect(await settled(store, run, againIn(HOUR))).toBe('accepted')
      const again = (await store.history.run(run.id))!
      expect(again).toMatchObject({ state: 'pending', workerId: null, leaseUntil: null, finishedAt: null, attempt: 1 })
      expect(again.error).toEqual({ name: 'Error', message: 'try again' })
      expect(again.dueAt).toBeGreaterThanOrEqual(now + HOUR)
      expect(again.dueAt).toBeLessThan(now + HOUR + MINUTE)
      const [entry, ...more] = await store.history.journal({ runId: run.id })
      expect(entry).toMatchObject({ kind: 'retry', runId: run.id })
      expect(entry!.at).toBeGreaterThanOrEqual(now)
      expect(more).toEqual([])
      await advance(HOUR + MINUTE)
      expect(await claimed(store, { wanted: [{ queue: run.queue, limit: 9 }] })).toMatchObject([
        { attempt: 2, fence: 2 },
      ])
    },
  )

  promise(
    'does not count an attempt that was given back',
    { kills: 'a release costs an attempt' },
    async ({ store }) => {
      const run = await running(store)
      await settled(store, run, againIn(0, false))
      expect(await store.history.run(run.id)).toMatchObject({ state: 'pending', attempt: 0, error: null })
      const [again] = await claimed(store, { wanted: [{ queue: run.queue, limit: 9 }] })
      expect(again).toMatchObject({ attempt: 1, fence: 2 })
    },
  )

  promise(
    'journals every reason for trying again under its own name',
    { kills: 'a reason is not journaled' },
    async ({ store }) => {
      for (const reason of ['retry', 'lost', 'timed_out', 'postponed', 'released', 'unknown_job'] as const) {
        const run = await running(store)
        await settled(store, run, { ...againIn(HOUR), reason } as Verdict)
        expect(await store.history.journal({ runId: run.id })).toMatchObject([{ kind: reason }])
      }
    },
  )

  promise(
    'refuses a result under an old fence, changes nothing, and records the refusal',
    { kills: 'a settlement does not look at the fence' },
    async ({ store, advance }) => {
      const zombie = await running(store)
      await advance(HOUR)
      const lost: Verdict = { ...againIn(0), reason: 'lost' } as Verdict
      await store.claims.settle([settlement(zombie, lost, { onlyExpired: true, workerId: 'reaper' })])
      const [theirs] = await claimed(store, { workerId: 'w2', wanted: [{ queue: zombie.queue, limit: 1 }] })
      for (const verdict of [SUCCEEDED, FAILED, CANCELLED, againIn(0)])
        expect(await settled(store, zombie, verdict)).toBe('refused')
      expect(await store.history.run(zombie.id)).toEqual(theirs)
      const refusals = (await store.history.journal({ runId: zombie.id })).filter(({ kind }) => kind === 'refused')
      expect(refusals).toHaveLength(4)
      expect(JSON.stringify(refusals[0]!.data)).toMatch(/w1.*succeeded|succeeded.*w1/)
      expect(await settled(store, theirs!, SUCCEEDED)).toBe('accepted')
    },
  )

  promise(
    'refuses any fence but that of the claim, older or newer',
    { kills: 'a settlement does not look at the fence' },
    async ({ store }) => {
      const run = await running(store)
      for (const verdict of [SUCCEEDED, FAILED, againIn(0)]) {
        expect(await settled(store, { ...run, fence: run.fence + 1 }, verdict)).toBe('refused')
        expect(await settled(store, { ...run, fence: run.fence - 1 }, verdict)).toBe('refused')
      }
      expect(await settled(store, { ...run, id: newId() }, SUCCEEDED)).toBe('refused')
      expect(await store.history.run(run.id)).toEqual(run)
    },
  )

  promise(
    'refuses the right fence under another claim, since a fence can repeat after a failover',
    { kills: 'a settlement does not look at the claim' },
    async ({ store }) => {
      const [run, other] = [await running(store), await running(store)]
      expect(run.claimId).not.toBe(other.claimId)
      for (const verdict of [SUCCEEDED, FAILED, CANCELLED, againIn(0)]) {
        expect(await settled(store, { ...run, claimId: other.claimId }, verdict)).toBe('refused')
        expect(await settled(store, { ...run, claimId: newId() }, verdict)).toBe('refused')
        expect(await settled(store, { ...run, claimId: null }, verdict)).toBe('refused')
      }
      // Among others of one worker that end in the same way, each is held to its own claim.
      const swapped = [
        settlement({ ...run, claimId: other.claimId }, SUCCEEDED),
        settlement({ ...other, claimId: run.claimId }, SUCCEEDED),
      ]
      expect(await store.claims.settle(swapped)).toEqual(['refused', 'refused'])
      const crossed = [settlement({ ...run, claimId: other.claimId }, SUCCEEDED), settlement(other, SUCCEEDED)]
      expect(await store.claims.settle(crossed)).toEqual(['refused', 'accepted'])
      expect(await store.history.run(run.id)).toEqual(run)
      expect(await settled(store, run, SUCCEEDED)).toBe('accepted')
    },
  )

  promise(
    'accepts one result, and none after it',
    { kills: 'a finished run takes a second result' },
    async ({ store }) => {
      const run = await running(store)
      expect(await settled(store, run, FAILED)).toBe('accepted')
      const ended = await store.history.run(run.id)
      for (const verdict of [SUCCEEDED, FAILED, CANCELLED, againIn(0)])
        expect(await settled(store, run, verdict)).toBe('refused')
      expect(await store.history.run(run.id)).toEqual(ended)
      expect(await store.history.runs({}, { limit: 10 })).toEqual([ended])
    },
  )

  promise(
    'accepts one of two results that come in one call',
    { kills: 'one call settles a grant twice' },
    async ({ store }) => {
      for (const verdicts of [
        [SUCCEEDED, FAILED],
        [SUCCEEDED, SUCCEEDED],
        [againIn(HOUR), SUCCEEDED],
        [againIn(HOUR), againIn(0)],
      ] as const) {
        const run = await running(store)
        const answers = await store.claims.settle(verdicts.map((verdict) => settlement(run, verdict)))
        expect(answers.toSorted()).toEqual(['accepted', 'refused'])
        const found = await store.history.runs({ queue: run.queue }, { limit: 10 })
        expect(found).toHaveLength(1)
      }
    },
  )

  promise(
    'settles a batch in order, each by its own grant',
    { kills: 'one refusal spoils the batch' },
    async ({ store }) => {
      for (const verdict of [FAILED, SUCCEEDED]) {
        const runs = [await running(store), await running(store), await running(store)]
        await settled(store, runs[1]!, SUCCEEDED)
        const answers = await store.claims.settle(runs.map((run) => settlement(run, verdict)))
        expect(answers).toEqual(['accepted', 'refused', 'accepted'])
      }
      expect(await store.claims.settle([])).toEqual([])
    },
  )

  promise(
    'writes nothing of a batch that cannot be written',
    { kills: 'a batch is settled piece by piece' },
    async ({ store }) => {
      const runs = [await running(store), await running(store)]
      const broken = { ...SUCCEEDED, result: { n: 1n } as never } as Verdict
      for (const verdict of [broken, againIn(Number.NaN)]) {
        const batch = [settlement(runs[0]!, SUCCEEDED), settlement(runs[1]!, verdict)]
        await expect(store.claims.settle(batch)).rejects.toThrow()
      }
      for (const run of runs) expect(await store.history.run(run.id)).toEqual(run)
    },
  )

  promise(
    'lets the reaper end only what its lease no longer protects',
    { kills: 'the reaper ends a run whose lease holds' },
    async ({ store, advance }) => {
      const run = await running(store)
      const reap = (): Promise<string[]> =>
        store.claims.settle([settlement(run, FAILED, { onlyExpired: true, workerId: 'reaper' })])
      await advance(MINUTE / 2)
      expect(await reap()).toEqual(['refused'])
      await store.claims.renew(MINUTE, [{ id: run.id, fence: run.fence, claimId: run.claimId, progress: null }])
      await advance(MINUTE / 2)
      expect(await reap()).toEqual(['refused'])
      expect((await store.history.run(run.id))!.state).toBe('running')
      await advance(MINUTE)
      expect(await reap()).toEqual(['accepted'])
      // A reaper that comes too late or too early has lost nobody's work: there is nothing to tell.
      expect(await reap()).toEqual(['refused'])
      expect(await store.history.journal({ runId: run.id })).toEqual([])
    },
  )

  promise(
    'lets a worker settle after its lease ended, while nobody else holds the run',
    { kills: 'an ended lease loses the result' },
    async ({ store, advance }) => {
      const run = await running(store)
      await advance(HOUR)
      expect(await settled(store, run, SUCCEEDED)).toBe('accepted')
    },
  )

  promise('keeps the last progress with the result', { kills: 'progress is dropped' }, async ({ store }) => {
    const [told, silent] = [await running(store), await running(store)]
    const half = { fraction: 0.5, note: 'rendering' }
    await store.claims.renew(
      MINUTE,
      [told, silent].map(({ id, fence, claimId }) => ({ id, fence, claimId, progress: half })),
    )
    const whole = { fraction: 1 }
    await store.claims.settle([settlement(told, SUCCEEDED, { progress: whole }), settlement(silent, SUCCEEDED)])
    expect((await store.history.run(told.id))!.progress).toEqual(whole)
    expect((await store.history.run(silent.id))!.progress).toEqual(half)
  })

  promise('settles a thousand at once', { kills: 'a batch has a hidden bound' }, async ({ store }) => {
    await store.runs.enqueue(Array.from({ length: 1000 }, () => newRun()))
    const runs = await claimed(store, { wanted: [{ queue: 'default', limit: 1000 }] })
    expect(runs).toHaveLength(1000)
    const answers = await store.claims.settle(runs.map((run) => settlement(run, SUCCEEDED)))
    expect(new Set(answers)).toEqual(new Set(['accepted']))
  })
}
