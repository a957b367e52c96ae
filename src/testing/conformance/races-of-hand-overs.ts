/** Hand-overs that meet an operator, or whoever completes the run: one of them has it, and the other is told. */
import { expect } from 'vitest'
import type { Group } from './harness.ts'
import { race, racing } from './race.ts'
import { HOUR, running, SUCCEEDED, settled, statesOf } from './samples.ts'

export const racesOfHandOversGroup: Group = (declare) => {
  const promise = racing(declare)

  promise(
    'ends a run at once when a cancel meets a hand-over in flight',
    'a cancel marks a run that nobody holds',
    async (subject) => {
      const run = await running(subject.store)
      const answer = await race<unknown, string>(subject, {
        leased: (store) => store.claims.handOver([run], HOUR),
        met: (store) => store.runs.cancel(run.id, 'ana'),
        ending: 'commit',
      })
      expect(answer).toBe('cancelled')
      expect(await statesOf(subject.store, [run.id])).toEqual(['cancelled'])
    },
  )

  promise(
    'leaves a run to its worker when a hand-over meets a cancel in flight',
    'a hand-over hides a cancel',
    async (subject) => {
      const run = await running(subject.store)
      const answer = await race<unknown, string[]>(subject, {
        leased: (store) => store.runs.cancel(run.id, 'ana'),
        met: (store) => store.claims.handOver([run], HOUR),
        ending: 'commit',
      })
      expect(answer).toEqual(['refused'])
      expect(await subject.store.history.run(run.id)).toEqual({ ...run, cancelRequested: true })
    },
  )

  promise(
    'refuses a hand-over that meets a completion in flight, and the other way round accepts both',
    'a hand-over brings back a run that has ended',
    async (subject) => {
      const [one, other] = [await running(subject.store), await running(subject.store)]
      const late = await race<unknown, string[]>(subject, {
        leased: (store) => settled(store, one, SUCCEEDED),
        met: (store) => store.claims.handOver([one], HOUR),
        ending: 'commit',
      })
      const early = await race<unknown, string>(subject, {
        leased: (store) => store.claims.handOver([other], HOUR),
        met: (store) => settled(store, other, SUCCEEDED),
        ending: 'commit',
      })
      expect([late, early]).toEqual([['refused'], 'accepted'])
      expect(await statesOf(subject.store, [one.id, other.id])).toEqual(['succeeded', 'succeeded'])
    },
  )
}
