/** Inserts runs made by hand, and keeps the promise of idempotency keys; the SQL for it is `enqueue-statements.ts`. */
import type { Enqueued, NewRun } from '../contract/runs.ts'
import {
  endedAlready,
  fullValues,
  groupedStatement,
  insertStatement,
  keyedStatement,
  plainValues,
  recallStatement,
} from './enqueue-statements.ts'
import { createUniform, type UniformBatch } from './enqueue-uniform.ts'
import { isTaken } from './failure.ts'
import { type Ask, type Statement, texts } from './statement.ts'
import type { Word } from './wake.ts'

/** `alone` says that each statement is a transaction of its own, so that one that fails leaves nothing to be undone. */
export type Enqueue = (runs: readonly NewRun[], ask: Ask, alone?: 'alone') => Promise<Enqueued[]>

/** The common case in the shortest way: a statement that fails when an id is taken. Null for runs that may meet others. */
export function createPlain(schema: string): (runs: readonly NewRun[]) => UniformBatch | null {
  const [uniform, insert] = [createUniform(schema), insertStatement(schema)]
  return (runs) => uniform(runs) ?? (runs.every(isPlain) ? { statement: insert, values: plainValues(runs) } : null)
}

/** For runs that differ in nothing but ids and payloads; answers false, and has written nothing, for others and when an id is taken. */
export function createInsertUniform(
  schema: string,
): (runs: readonly NewRun[], ask: Ask, word: Word) => Promise<boolean> {
  const uniform = createUniform(schema)
  return (runs, ask, word) => written(uniform(runs, word), ask)
}

/** Whether it was: not where there is nothing to ask, or where an id is taken after all. */
async function written(insert: UniformBatch | null, ask: Ask): Promise<boolean> {
  if (!insert) return false
  try {
    await ask(insert.statement, insert.values)
    return true
  } catch (error) {
    if (isTaken(error)) return false
    throw error
  }
}

export function createEnqueue(schema: string): Enqueue {
  const insertKeyed = keyedStatement(schema)
  const [insertGrouped, insertSlots] = [groupedStatement(schema), groupedStatement(schema, endedAlready(schema))]
  const recall = recallStatement(schema)
  const plainly = createPlain(schema)

  /** No more is looked at than these runs need, because the server plans the longer statements again for each call. */
  const choose = (runs: readonly NewRun[]): Statement => {
    if (runs.some(({ slot }) => slot !== null)) return insertSlots
    return runs.some(({ group }) => group !== null) ? insertGrouped : insertKeyed
  }

  /** Inserts, and answers those that were not, because their id or their key is taken. */
  const insertAll = async (runs: readonly NewRun[], ask: Ask): Promise<LeftOut[]> => {
    const left = await ask<{ id: string; keyed: boolean }>(choose(runs), fullValues(runs))
    if (left.length === 0) return []
    const keyed = new Map(left.map((row) => [row.id, row.keyed]))
    return runs.filter(({ id }) => keyed.has(id)).map((run) => ({ run, keyed: keyed.get(run.id)! }))
  }

  return async (runs, ask, alone) => {
    if (alone && (await written(plainly(runs), ask))) return runs.map(({ id }) => ({ id, created: true }))
    const candidates = onePerKey(runs)
    const standsFor = new Map(candidates.map((run) => [nameOf(run), run.id]))
    const existing = new Set<string>()
    for (let open = candidates; open.length > 0; ) {
      const left = await insertAll(open, ask)
      for (const { run, keyed } of left) if (!keyed) existing.add(run.id)
      const taken = left.filter(({ keyed }) => keyed).map(({ run }) => run)
      if (taken.length === 0) break
      // In a statement of its own: the key may have been taken by a transaction that the first one could not see yet.
      const known = await ask<{ n: number; run_id: string }>(recall, [
        texts(taken.map(({ workspace }) => workspace)),
        texts(taken.map(({ idempotencyKey }) => idempotencyKey)),
      ])
      for (const { n, run_id } of known) {
        standsFor.set(nameOf(taken[n]!), run_id)
        existing.add(run_id)
      }
      // Whatever was forgotten between the two statements is free after all.
      const found = new Set(known.map(({ n }) => n))
      open = taken.filter((_, n) => !found.has(n))
    }
    return runs.map((run) => {
      const id = standsFor.get(nameOf(run))!
      return { id, created: id === run.id && !existing.has(id) }
    })
  }
}

interface LeftOut {
  readonly run: NewRun
  /** Whether it is its idempotency key that is taken, rather than its id. */
  readonly keyed: boolean
}

/** Without anything that could make it wait for another's transaction. */
export const isPlain = ({ idempotencyKey, group, slot }: NewRun): boolean =>
  idempotencyKey === null && group === null && slot === null

/** A run without a key stands for itself. */
const nameOf = ({ id, workspace, idempotencyKey }: NewRun): string =>
  idempotencyKey === null ? id : JSON.stringify([workspace, idempotencyKey])

/** The first of each key. */
function onePerKey(runs: readonly NewRun[]): NewRun[] {
  if (runs.every(({ idempotencyKey }) => idempotencyKey === null)) return [...runs]
  const first = new Map<string, NewRun>()
  for (const run of runs) if (!first.has(nameOf(run))) first.set(nameOf(run), run)
  return [...first.values()]
}
