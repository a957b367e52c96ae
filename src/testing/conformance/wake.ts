/** Hints: new work is announced, also by other processes, until the listener goes. A store may say more than it must, never less. */
import { expect } from 'vitest'
import type { Store } from '../../store/contract/store.ts'
import type { Hint } from '../../store/contract/wake.ts'
import { granted, move, plannedInGroup } from './group-samples.ts'
import type { Group } from './harness.ts'
import { MINUTE, newRun, putNew, running, SUCCEEDED, settled } from './samples.ts'

interface Ear {
  /** Resolves with the first hint of this kind, or one that means everything, that comes after this call. */
  hears(kind: 'runs' | 'schedules' | 'cancels'): Promise<Hint>
  readonly heard: readonly Hint[]
  stop(): Promise<void>
}

async function listening(store: Store): Promise<Ear> {
  const heard: Hint[] = []
  const waiting = new Set<(hint: Hint) => void>()
  const stop = await store.wake.listen((hint) => {
    heard.push(hint)
    for (const tell of [...waiting]) tell(hint)
  })
  const hears = (kind: Hint['kind']): Promise<Hint> =>
    new Promise((resolve) => {
      const tell = (hint: Hint): void => {
        if (hint.kind !== kind && hint.kind !== 'all') return
        waiting.delete(tell)
        resolve(hint)
      }
      waiting.add(tell)
    })
  return { hears, heard, stop }
}

export const wakeGroup: Group = (promise) => {
  promise(
    'announces runs that were enqueued, with their queues',
    { kills: 'an enqueue wakes nobody' },
    async ({ store }) => {
      const ear = await listening(store)
      const hint = ear.hears('runs')
      await store.runs.enqueue([newRun({ queue: 'mail' }), newRun({ queue: 'slow' })])
      const { kind, ...rest } = await hint
      if (kind === 'runs') expect((rest as { queues: string[] }).queues.toSorted()).toEqual(['mail', 'slow'])
      await ear.stop()
    },
  )

  promise('announces schedules that were put', { kills: 'a new schedule wakes nobody' }, async ({ store }) => {
    const ear = await listening(store)
    const hint = ear.hears('schedules')
    await putNew(store)
    await hint
    await ear.stop()
  })

  promise(
    'announces that running runs are to stop, whoever wants it',
    { kills: 'a cancel wakes nobody' },
    async ({ store, advance }) => {
      const ear = await listening(store)
      const run = await running(store)
      const asked = ear.hears('cancels')
      await store.runs.cancel(run.id, 'ana')
      await asked
      const { ids } = await plannedInGroup(store, 2, { overlap: 'cancel_previous' })
      await advance(2 * MINUTE)
      await granted(store, ids[0]!)
      const overtaken = ear.hears('cancels')
      await move(store, { kind: 'cancel', id: ids[0]!, for: ids[1]! })
      await overtaken
      await ear.stop()
    },
  )

  promise(
    'announces a run that is let into its concurrency group',
    { kills: 'a run that is let in wakes nobody' },
    async ({ store, advance }) => {
      const { ids } = await plannedInGroup(store, 2)
      await advance(2 * MINUTE)
      await settled(store, await granted(store, ids[0]!), SUCCEEDED)
      const ear = await listening(store)
      const hint = ear.hears('runs')
      await move(store, { kind: 'ready', id: ids[1]! })
      await hint
      await ear.stop()
    },
  )

  promise(
    'announces what other processes write',
    { kills: 'hints stay inside one process', needs: 'second' },
    async ({ store, second }) => {
      const other = await second()
      const ear = await listening(store)
      const runs = ear.hears('runs')
      await other.runs.enqueue([newRun()])
      await runs
      const schedules = ear.hears('schedules')
      await putNew(other)
      await schedules
      await ear.stop()
    },
  )

  promise(
    'tells every listener, until it stops listening',
    { kills: 'a listener that left is still told' },
    async ({ store }) => {
      const [gone, here] = [await listening(store), await listening(store)]
      const both = [gone.hears('runs'), here.hears('runs')]
      await store.runs.enqueue([newRun()])
      await Promise.all(both)
      await gone.stop()
      await gone.stop()
      const before = gone.heard.length
      const hint = here.hears('runs')
      await store.runs.enqueue([newRun()])
      await hint
      expect(gone.heard).toHaveLength(before)
      await here.stop()
    },
  )

  promise(
    'may be closed while somebody listens',
    { kills: 'a listener keeps the store from closing' },
    async ({ store }) => {
      await listening(store)
      await store.close()
    },
  )
}
