/** Inserts long lists of runs in pieces, all of one list in one transaction; what is not long, or may meet others, is left to `enqueue.ts`. */
import type { Enqueued, NewRun } from '../contract/runs.ts'
import type { Connection } from './connection.ts'
import { createPlain, type Enqueue, isPlain } from './enqueue.ts'
import { isTaken } from './failure.ts'
import type { Ask } from './statement.ts'

/** Long enough that the round trips do not count; short enough that no statement comes near a limit of time or size. */
const PIECE = 5000

export function createEnqueueLong(
  { api }: Connection,
  schema: string,
  enqueue: Enqueue,
): (runs: readonly NewRun[]) => Promise<Enqueued[]> {
  const plainly = createPlain(schema)

  /** While the server works on one piece, the next is written down. */
  const insertAll = async (runs: readonly NewRun[], ask: Ask): Promise<void> => {
    let before: Promise<unknown> = Promise.resolve()
    for (let from = 0; from < runs.length; from += PIECE) {
      const { statement, values } = plainly(runs.slice(from, from + PIECE))!
      await before
      before = ask(statement, values)
      // Should the next piece be refused meanwhile, this one's failure is nobody's.
      before.catch(() => {})
    }
    await before
  }

  return async (runs) => {
    if (runs.length <= PIECE || !runs.every(isPlain)) return enqueue(runs, api.ask, 'alone')
    try {
      await api.transact((ask) => insertAll(runs, ask))
      return runs.map(({ id }) => ({ id, created: true }))
    } catch (error) {
      // Nothing was written; the longer way tells which one was there already.
      if (isTaken(error)) return enqueue(runs, api.ask)
      throw error
    }
  }
}
