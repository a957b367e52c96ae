/** Creates and changes schedules in batches; everything else that happens to them is `schedules.ts`. */
import { EverytickError } from '../../errors.ts'
import type { PutAnswer, PutSchedule } from '../contract/schedules.ts'
import {
  changeStatement,
  compareStatement,
  createStatement,
  keyValues,
  type Numbered,
  putValues,
} from './put-statements.ts'
import { lockStatement } from './retract.ts'
import type { Ask } from './statement.ts'

/** Large enough that a batch is cheap, small enough that its arrays stay so. */
const BATCH = 1000

interface AnswerRow {
  n: number
  id: string
  created: boolean
  changed: boolean
  differs: boolean
  revision: number
  next_at: number | null
}

export type Put = (schedules: readonly PutSchedule[], ask: Ask) => Promise<PutAnswer[]>

/** Inside a transaction of the caller's. */
export function createPut(schema: string): Put {
  const statements = {
    create: createStatement(schema),
    compare: compareStatement(schema),
    lock: lockStatement(schema),
    change: changeStatement(schema),
  }

  /**
   * Creates what is new, leaves alone what is the same or not as the caller saw it, and locks and changes the rest. Answers
   * which it found.
   */
  const batch = async (list: readonly Numbered[], ask: Ask): Promise<AnswerRow[]> => {
    const values = putValues(list)
    const created = await ask<AnswerRow>(statements.create, values)
    if (created.length === list.length) return created
    const compared = await ask<AnswerRow>(statements.compare, values)
    const there = new Set(compared.map(({ n }) => n))
    const missing = list.filter(({ n, put }) => put.from !== null && !there.has(n)).map(gone)
    const known = [...compared.map((row) => (row.differs ? { ...row, changed: false } : row)), ...created, ...missing]
    const wanting = new Set(known.filter(({ created, changed }) => changed && !created).map(({ n }) => n))
    if (wanting.size === 0) return known
    const changing = list.filter(({ n }) => wanting.has(n))
    await ask(statements.lock, keyValues(changing))
    const changed = await ask<AnswerRow>(statements.change, putValues(changing))
    return [...known.filter(({ n }) => !wanting.has(n)), ...changed]
  }

  return async (schedules, ask) => {
    refuseTwice(schedules)
    const answers: PutAnswer[] = []
    // In order of their keys, so that two processes that put the same ones cannot wait for each other in a circle.
    let open = schedules.map((put, n) => ({ n, put })).sort(byKey)
    while (open.length > 0) {
      for (let from = 0; from < open.length; from += BATCH) {
        for (const { n, next_at: nextAt, ...answer } of await batch(open.slice(from, from + BATCH), ask))
          answers[n] = { ...answer, nextAt }
      }
      // Removed by another between two statements, and then new after all; or changed by another, and then compared anew.
      open = open.filter(({ n }) => answers[n] === undefined)
    }
    return answers
  }
}

/** Whoever saw it wants it changed, not made. */
const gone = ({ n, put: { id } }: Numbered): AnswerRow => ({
  ...{ n, id, created: false, changed: false, differs: true, revision: 0, next_at: null },
})

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
const byKey = (a: Numbered, b: Numbered): number =>
  compare(a.put.definition.workspace, b.put.definition.workspace) || compare(a.put.definition.key, b.put.definition.key)

function refuseTwice(schedules: readonly PutSchedule[]): void {
  const seen = new Set<string>()
  for (const { definition } of schedules) {
    const name = JSON.stringify([definition.workspace, definition.key])
    if (!seen.has(name)) seen.add(name)
    else
      throw new EverytickError('DUPLICATE_KEY', `schedule "${definition.key}" stands twice in one call`, {
        hint: 'give each schedule of a workspace a key of its own',
      })
  }
}
