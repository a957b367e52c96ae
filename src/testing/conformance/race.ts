/** How an interleaving is forced: one connection is stopped between its writes and its commit, and another meets it. No luck, no sleeps. */
import type { Store } from '../../store/contract/store.ts'
import type { Declare, OpenStore, Subject } from './harness.ts'

export type Ending = 'commit' | 'rollback'

export interface Race<H, M> {
  /** Happens first, and stays uncommitted. */
  readonly leased: (store: Store) => Promise<H>
  /** Happens meanwhile on the other connection. */
  readonly met: (store: Store) => Promise<M>
  readonly ending: Ending
}

/** Runs the race: `met` begins while `leased` is uncommitted, and goes on when it has answered or is seen to wait. */
export async function race<H, M>({ store, hold }: Subject, { leased, met, ending }: Race<H, M>): Promise<M> {
  const holder = await hold()
  await leased(holder.store)
  const answer = met(store)
  await Promise.race([answer.catch(() => {}), holder.waitedFor()])
  await holder[ending]()
  return answer
}

/** Answers at once, without waiting for what the other holds. */
export async function atOnce<T>(holder: OpenStore, answer: Promise<T>): Promise<T> {
  const waited = holder.waitedFor().then(() => {
    throw new Error('waits for a transaction of somebody else')
  })
  return Promise.race([answer, waited])
}

/** Declares a promise that needs a held store, or one beside which others can write. */
export const racing =
  (declare: Declare, needs: 'hold' | 'parallel' = 'hold') =>
  (title: string, kills: string, prove: (subject: Subject) => Promise<void>): void =>
    declare(title, { kills, needs }, prove)
