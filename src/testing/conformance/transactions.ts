/** Verbs inside the caller's own transaction: unseen until it commits, gone when it rolls back, and never ended by the store. */
import { expect } from 'vitest'
import type { Executor } from '../../store/contract/executor.ts'
import type { Store } from '../../store/contract/store.ts'
import { newBackfill } from './backfills.ts'
import type { Group } from './harness.ts'
import {
  DAY,
  definitionOf,
  MINUTE,
  newRun,
  nonRun,
  plannedAhead,
  putAgain,
  putNew,
  putOf,
  statesOf,
} from './samples.ts'

interface Verb {
  readonly name: string
  /** Brings the store to where the verb has something to do, and answers with the verb. */
  prepare(store: Store): Promise<(tx: Executor) => Promise<unknown>>
}

const VERBS: readonly Verb[] = [
  {
    name: 'enqueue',
    prepare: async (store) => (tx) => store.runs.enqueue([newRun(), newRun({ idempotencyKey: 'order-1' })], tx),
  },
  {
    name: 'put of a new schedule',
    prepare: async (store) => {
      const put = putOf(definitionOf({ key: 'new' }), { nextAt: 5000 })
      return (tx) => store.schedules.put([put], tx)
    },
  },
  {
    name: 'put of a change',
    prepare: async (store) => {
      const { schedule } = await plannedAhead(store, 2)
      return (tx) => store.schedules.put([putAgain(schedule, { job: 'other' })], tx)
    },
  },
  {
    name: 'pause',
    prepare: async (store) => {
      await plannedAhead(store, 2)
      return (tx) => store.schedules.pause('default', 'sync', { reason: 'outage', by: 'ana', until: null }, tx)
    },
  },
  {
    name: 'resume',
    prepare: async (store) => {
      await putNew(store)
      await store.schedules.pause('default', 'sync', { reason: 'outage', by: 'ana', until: null })
      const { revision } = (await store.schedules.get('default', 'sync'))!
      const nonRuns = [nonRun({ state: 'skipped', reason: 'paused', fromAt: 1, toAt: 2, count: 2 })]
      const now = await store.now()
      return (tx) =>
        store.schedules.resume(
          'default',
          'sync',
          { revision, nextAt: now + DAY, watermarkAt: now, nonRuns, by: 'ana' },
          tx,
        )
    },
  },
  {
    name: 'remove',
    prepare: async (store) => {
      await plannedAhead(store, 2)
      return (tx) => store.schedules.remove('default', 'sync', 'ana', tx)
    },
  },
  {
    name: 'removeWorkspace',
    prepare: async (store) => {
      await plannedAhead(store, 2)
      return (tx) => store.schedules.removeWorkspace('default', 'ana', tx)
    },
  },
  {
    name: 'backfill',
    prepare: async (store) => {
      const backfill = newBackfill(await putNew(store))
      return (tx) => store.backfills.create(backfill, tx)
    },
  },
]

/** All that a reader can see. */
async function visible(store: Store): Promise<unknown> {
  const schedules = await store.schedules.list({ limit: 10 })
  const runs = await store.history.runs({}, { limit: 10 })
  const nonRuns = await Promise.all(schedules.map(({ id }) => store.history.nonRuns(id)))
  const revisions = await Promise.all(schedules.map(({ id }) => store.history.revisions(id)))
  return { schedules, runs, nonRuns, revisions, backfills: await store.backfills.list({ limit: 10 }) }
}

export const transactionsGroup: Group = (promise) => {
  for (const { name, prepare } of VERBS) {
    promise(
      `shows nothing of a ${name} before the caller commits`,
      { kills: 'a verb leaves the caller’s transaction', needs: 'begin' },
      async ({ store, begin }) => {
        const verb = await prepare(store)
        const before = await visible(store)
        const { tx, commit } = await begin()
        expect(await verb(tx)).not.toBe(false)
        expect(await visible(store)).toEqual(before)
        await commit()
        expect(await visible(store)).not.toEqual(before)
      },
    )

    promise(
      `leaves nothing of a ${name} that the caller rolls back`,
      { kills: 'a verb commits the caller’s transaction', needs: 'begin' },
      async ({ store, begin }) => {
        const verb = await prepare(store)
        const before = await visible(store)
        const { tx, rollback } = await begin()
        await verb(tx)
        await rollback()
        expect(await visible(store)).toEqual(before)
      },
    )
  }

  promise(
    'remembers an idempotency key only if the caller commits',
    { kills: 'a key is remembered outside the transaction', needs: 'begin' },
    async ({ store, begin }) => {
      const undone = await begin()
      await store.runs.enqueue([newRun({ idempotencyKey: 'order-1' })], undone.tx)
      await undone.rollback()
      const kept = newRun({ idempotencyKey: 'order-1' })
      const done = await begin()
      expect(await store.runs.enqueue([kept], done.tx)).toEqual([{ id: kept.id, created: true }])
      expect(await store.runs.enqueue([newRun({ idempotencyKey: 'order-1' })], done.tx)).toEqual([
        { id: kept.id, created: false },
      ])
      await done.commit()
      expect(await store.runs.enqueue([newRun({ idempotencyKey: 'order-1' })])).toEqual([
        { id: kept.id, created: false },
      ])
    },
  )

  promise(
    'does several verbs in one transaction, all or none',
    { kills: 'a verb ends the caller’s transaction', needs: 'begin' },
    async ({ store, begin }) => {
      const { schedule } = await plannedAhead(store, 2)
      const before = await visible(store)
      const { tx, rollback } = await begin()
      await store.schedules.put([putAgain(schedule, { job: 'other' })], tx)
      const [run] = await store.runs.enqueue([newRun()], tx)
      await store.schedules.pause('default', 'sync', { reason: 'outage', by: 'ana', until: null }, tx)
      await store.schedules.remove('default', 'sync', 'ana', tx)
      await rollback()
      expect(await visible(store)).toEqual(before)
      expect(await statesOf(store, [run!.id])).toEqual([null])
    },
  )

  promise(
    'goes on beside a transaction of the caller’s that stays open',
    { kills: 'an open transaction blocks the readers', needs: 'begin' },
    async ({ store, begin }) => {
      const { tx, commit } = await begin()
      await store.runs.enqueue([newRun({ due: { delayMs: MINUTE } })], tx)
      expect(await store.history.runs({}, { limit: 10 })).toEqual([])
      expect(await store.planning.due({ lookaheadMs: 0, limit: 10 })).toMatchObject({ schedules: [] })
      expect(await store.claims.expired(10)).toEqual([])
      await commit()
    },
  )
}
