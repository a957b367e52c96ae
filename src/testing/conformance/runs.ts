/** Runs made by hand: all of a call or none, and one run for one idempotency key. What operators do to runs is `runs-operated.ts`. */
import { expect } from 'vitest'
import type { Group } from './harness.ts'
import { claimed, DAY, enqueued, HOUR, newId, newRun, SUCCEEDED, settled, statesOf } from './samples.ts'

export const runsGroup: Group = (promise) => {
  promise('keeps a run as it was given', { kills: 'a column is not written' }, async ({ store }) => {
    const before = await store.now()
    const policy = { retry: { attempts: 9, backoff: 'fixed', baseMs: 1, maxMs: 2 }, timeoutMs: 77 } as const
    const given = newRun({
      workspace: 't_42',
      queue: 'slow',
      trigger: 'manual',
      priority: 9,
      payload: { n: [1, null] },
      policy,
      schedule: { id: newId(), key: 'sync', revision: 3 },
      due: { at: before + DAY },
      group: 't_42\ncrm',
      overlap: 'queue',
      idempotencyKey: 'order-1',
    })
    expect(await store.runs.enqueue([given])).toEqual([{ id: given.id, created: true }])
    const run = (await store.history.run(given.id))!
    const { due, slot, ...kept } = given
    expect(run).toEqual({
      ...kept,
      state: 'pending',
      scheduledAt: null,
      slotStartAt: null,
      dueAt: before + DAY,
      readiness: 'blocked',
      createdAt: run.createdAt,
      attempt: 0,
      fence: 0,
      claimId: null,
      workerId: null,
      leaseUntil: null,
      startedAt: null,
      finishedAt: null,
      cancelRequested: false,
      result: null,
      error: null,
      progress: null,
    })
    expect(run.createdAt).toBeGreaterThanOrEqual(before)
  })

  promise(
    'counts a delay from now by its own clock',
    { kills: 'a delay is counted by the clock of the caller' },
    async ({ store, advance }) => {
      await advance(DAY)
      const before = await store.now()
      const run = (await store.history.run(await enqueued(store, { due: { delayMs: HOUR } })))!
      expect(run.dueAt).toBe(run.createdAt + HOUR)
      expect(run.createdAt).toBeGreaterThanOrEqual(before)
    },
  )

  promise(
    'answers in the order of the input',
    { kills: 'answers come in the order of the database' },
    async ({ store }) => {
      const runs = Array.from({ length: 50 }, () => newRun())
      expect(await store.runs.enqueue(runs)).toEqual(runs.map(({ id }) => ({ id, created: true })))
      expect(await store.runs.enqueue([])).toEqual([])
    },
  )

  promise('writes all of a call or none', { kills: 'runs are written one by one' }, async ({ store }) => {
    const kept = await enqueued(store)
    const bad = { priority: 10 }
    const fresh = [newRun({ idempotencyKey: 'order-1' }), newRun()]
    await expect(store.runs.enqueue([...fresh, newRun(bad)])).rejects.toThrow()
    const many = Array.from({ length: 5500 }, () => newRun())
    await expect(store.runs.enqueue([...many, newRun(bad)])).rejects.toThrow()
    expect(await store.history.runs({}, { limit: 10 })).toMatchObject([{ id: kept }])
    expect(
      await statesOf(
        store,
        fresh.map(({ id }) => id),
      ),
    ).toEqual([null, null])
    // The key of the first must not have been remembered either.
    expect(await store.runs.enqueue([fresh[0]!])).toEqual([{ id: fresh[0]!.id, created: true }])
  })

  promise(
    'makes no run a second time that is live, or that has made its occurrence good',
    { kills: 'a repeated enqueue makes a run again' },
    async ({ store }) => {
      const slot = { scheduledAt: 60_000, slotStartAt: 0 }
      const schedule = { id: newId(), key: 'sync', revision: 1 }
      const done = newRun({ trigger: 'backfill', slot, schedule })
      const [live, fresh] = [newRun({ queue: 'other' }), newRun()]
      await store.runs.enqueue([live, done])
      const [run] = await claimed(store)
      await settled(store, run!, SUCCEEDED)
      const before = await store.history.runs({}, { limit: 10 })
      expect(await store.runs.enqueue([{ ...live, payload: 'new' }, fresh, done])).toEqual([
        { id: live.id, created: false },
        { id: fresh.id, created: true },
        { id: done.id, created: false },
      ])
      const after = await store.history.runs({}, { limit: 10 })
      expect(after.filter(({ id }) => id !== fresh.id)).toEqual(before)
      expect(after).toHaveLength(3)
    },
  )

  promise(
    'adds nothing for an idempotency key that it remembers',
    { kills: 'an idempotency key is not looked up' },
    async ({ store, advance }) => {
      const first = await enqueued(store, { idempotencyKey: 'order-1' })
      const repeat = (): Promise<unknown> => store.runs.enqueue([newRun({ idempotencyKey: 'order-1' })])
      const known = [{ id: first, created: false }]
      expect(await repeat()).toEqual(known)
      const [run] = await claimed(store)
      expect(await repeat()).toEqual(known)
      await settled(store, run!, SUCCEEDED)
      expect(await repeat()).toEqual(known)
      await advance(HOUR)
      expect(await repeat()).toEqual(known)
      expect(await store.history.runs({}, { limit: 10 })).toHaveLength(1)
    },
  )

  promise(
    'keeps the keys of workspaces apart',
    { kills: 'the workspace is not part of the key' },
    async ({ store }) => {
      const runs = ['t_1', 't_2'].map((workspace) => newRun({ workspace, idempotencyKey: 'order-1' }))
      expect(await store.runs.enqueue(runs)).toEqual(runs.map(({ id }) => ({ id, created: true })))
      const again = runs.map((run) => ({ ...run, id: newId() }))
      expect(await store.runs.enqueue(again)).toEqual(runs.map(({ id }) => ({ id, created: false })))
    },
  )

  promise(
    'makes one run of two with the same key in one call',
    { kills: 'keys are looked up only before the call' },
    async ({ store }) => {
      const old = await enqueued(store, { idempotencyKey: 'old' })
      const keys = ['new', null, 'old', 'new', null, 'old']
      const runs = keys.map((idempotencyKey) => newRun({ idempotencyKey }))
      const ids = runs.map(({ id }) => id)
      expect(await store.runs.enqueue(runs)).toEqual([
        { id: ids[0], created: true },
        { id: ids[1], created: true },
        { id: old, created: false },
        { id: ids[0], created: false },
        { id: ids[4], created: true },
        { id: old, created: false },
      ])
      expect(await store.history.runs({}, { limit: 10 })).toHaveLength(4)
    },
  )

  promise(
    'makes one run of one key for two processes',
    { kills: 'an idempotency key is not looked up', needs: 'second' },
    async ({ store, second }) => {
      const other = await second()
      const call = (on: typeof store): Promise<{ id: string; created: boolean }[]> =>
        on.runs.enqueue([newRun({ idempotencyKey: 'order-1' })])
      const answers = (await Promise.all([call(store), call(other)])).flat()
      expect(answers.filter(({ created }) => created)).toHaveLength(1)
      expect(answers[0]!.id).toBe(answers[1]!.id)
      expect(await store.history.runs({}, { limit: 10 })).toHaveLength(1)
    },
  )
}
