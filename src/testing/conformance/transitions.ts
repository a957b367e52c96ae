/** Tries every arrow of the state machine on the store: those in the table of `run/state.ts` lead on, all others are refused. */
import { expect } from 'vitest'
import type { Run } from '../../run/run.ts'
import type { Verdict } from '../../run/settle.ts'
import { mayMove, type RunState } from '../../run/state.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Group } from './harness.ts'
import { againIn, CANCELLED, claimed, FAILED, newRun, running, SUCCEEDED, settled } from './samples.ts'

/** States a run can stand in; occurrences that were skipped or missed never became one. */
const STATES = ['pending', 'running', 'succeeded', 'failed', 'cancelled'] as const
type Standing = (typeof STATES)[number]

const FINAL: Record<Extract<Standing, 'succeeded' | 'failed' | 'cancelled'>, Verdict> = {
  succeeded: SUCCEEDED,
  failed: FAILED,
  cancelled: CANCELLED,
}

/** A run that stands in this state, with the last claim it had, if any. */
async function standing(store: Store, state: Standing): Promise<Run> {
  if (state === 'pending') {
    const [made] = await store.runs.enqueue([newRun({ queue: 'pending', due: { delayMs: 0 } })])
    return (await store.history.run(made!.id))!
  }
  const run = await running(store)
  if (state !== 'running') await settled(store, run, FINAL[state])
  return (await store.history.run(run.id))!
}

/** Everything anybody could ask of the store to bring a run into this state. */
const WAYS: Record<Standing, readonly ((store: Store, run: Run) => Promise<unknown>)[]> = {
  pending: [(store, run) => store.runs.retry([run.id], 'ana'), (store, run) => settled(store, run, againIn(0))],
  running: [(store, run) => claimed(store, { wanted: [{ queue: run.queue, limit: 10 }] })],
  succeeded: [(store, run) => settled(store, run, SUCCEEDED)],
  failed: [(store, run) => settled(store, run, FAILED)],
  cancelled: [(store, run) => settled(store, run, CANCELLED), (store, run) => store.runs.cancel(run.id, 'ana')],
}

export const transitionsGroup: Group = (promise) => {
  for (const from of STATES)
    for (const to of STATES) {
      if (from === to) continue
      const allowed = mayMove(from as RunState, to)
      promise(
        allowed ? `moves a run from ${from} to ${to}` : `refuses to move a run from ${from} to ${to}`,
        {
          kills: allowed ? 'an arrow of the state machine is missing' : 'a run moves along an arrow that is not drawn',
        },
        async ({ store }) => {
          const run = await standing(store, from)
          // A worker that never was claimed the run tries with the fence the row has.
          const asker = { ...run, workerId: run.workerId ?? 'w1' }
          for (const way of WAYS[to]) {
            await way(store, asker)
            if ((await store.history.run(run.id))!.state !== from) break
          }
          const after = (await store.history.run(run.id))!
          expect(after.state).toBe(allowed ? to : from)
          if (!allowed) expect({ ...after, cancelRequested: false }).toEqual({ ...run, cancelRequested: false })
        },
      )
    }
}
