/** Creates and changes schedules in batches, and decides what of it needs a transaction; everything else that happens to them is `schedules.ts`. */
import { EverytickError } from '../../errors.ts'
import type { PutAnswer, PutSchedule } from '../contract/schedules.ts'
import type { Executor } from './connection.ts'
import { isTaken } from './failure.ts'
import { pauseStatement, pauseValues } from './pause.ts'
import { keyValues, type Numbered, putValues } from './put-list.ts'
import { changeStatement, compareStatement, createStatement, freshStatement } from './put-statements.ts'
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

export interface Put {
  /** All, or none where one is not as its caller saw it. */
  alone(schedules: readonly PutSchedule[], executor: Executor): Promise<PutAnswer[]>
  /** Inside a transaction of somebody else's, which is not ours to undo. */
  within(schedules: readonly PutSchedule[], ask: Ask): Promise<PutAnswer[]>
}

/** Puts what is open, as far as one round trip after another goes, and answers what became of it. */
type Step = (list: readonly Numbered[], ask: Ask) => Promise<AnswerRow[]>

export function createPut(schema: string): Put {
  const statements = {
    fresh: freshStatement(schema),
    create: createStatement(schema),
    compare: compareStatement(schema),
    lock: lockStatement(schema),
    change: changeStatement(schema),
    pause: pauseStatement(schema),
  }

  /** In one statement, when it is enough; null when it was not, and then it wrote nothing. */
  const atOnce = async (list: readonly Numbered[], ask: Ask): Promise<AnswerRow[] | null> => {
    if (list.some(({ put }) => put.from !== null || put.pause)) return null
    const there = await ask<AnswerRow>(statements.fresh, putValues(list, 'bytes'))
    if (there.length === 0) return list.map(made)
    if (there.length === list.length) return there
    if (!there.some(({ differs }) => differs)) return null
    // One that differs keeps all others from being written.
    const found = new Set(there.map(({ n }) => n))
    return [...there, ...list.filter(({ n }) => !found.has(n)).map((each) => undone(made(each)))]
  }

  /** Those created of which the caller wants a pause are paused before anybody else sees them. */
  const pausedAs = async (list: readonly Numbered[], rows: readonly AnswerRow[], ask: Ask): Promise<AnswerRow[]> => {
    const wanted = new Map(list.flatMap(({ n, put }) => (put.pause ? [[n, put.pause] as const] : [])))
    const answers: AnswerRow[] = []
    for (const row of rows) {
      const pause = wanted.get(row.n)
      if (pause) await ask(statements.pause, pauseValues(row.id, pause))
      answers.push(pause ? { ...row, next_at: pause.until } : row)
    }
    return answers
  }

  /**
   * Creates what is new, leaves alone what is the same or not as the caller saw it, and locks and changes the rest. Answers
   * which it found.
   */
  const stepByStep: Step = async (list, ask) => {
    const values = putValues(list)
    const created = await pausedAs(list, await ask<AnswerRow>(statements.create, values), ask)
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

  const atOnceOrByStep: Step = async (list, ask) => (await atOnce(list, ask)) ?? stepByStep(list, ask)

  return {
    async alone(schedules, executor) {
      const list = inOrder(schedules)
      try {
        // A single statement is a transaction of its own.
        if (list.length > BATCH) return await inTransaction(list, executor, atOnceOrByStep)
        const rows = await atOnce(list, executor.ask)
        if (rows) return answersOf(rows)
      } catch (error) {
        if (!isTaken(error)) throw error
      }
      return inTransaction(list, executor, stepByStep)
    },
    within: (schedules, ask) => inBatches(inOrder(schedules), ask, stepByStep),
  }
}

async function inTransaction(list: readonly Numbered[], executor: Executor, step: Step): Promise<PutAnswer[]> {
  const undo = new Error('a schedule is not as the caller saw it')
  let answers: PutAnswer[] = []
  try {
    await executor.transact(async (ask) => {
      answers = await inBatches(list, ask, step)
      if (answers.some(({ differs }) => differs)) throw undo
    })
    return answers
  } catch (error) {
    if (error !== undo) throw error
    return answers.map(undone)
  }
}

async function inBatches(list: readonly Numbered[], ask: Ask, step: Step): Promise<PutAnswer[]> {
  const rows: AnswerRow[] = []
  const known = new Set<number>()
  for (let open = list; open.length > 0; ) {
    for (let from = 0; from < open.length; from += BATCH) {
      for (const row of await step(open.slice(from, from + BATCH), ask)) {
        rows.push(row)
        known.add(row.n)
      }
    }
    // Removed by another between two statements, and then new after all; or changed by another, and then compared again.
    open = open.filter(({ n }) => !known.has(n))
  }
  return answersOf(rows)
}

/** In the order of the call; what was found out last about a schedule is the answer. */
function answersOf(rows: readonly AnswerRow[]): PutAnswer[] {
  const answers: PutAnswer[] = []
  for (const { n, id, created, changed, differs, revision, next_at: nextAt } of rows)
    answers[n] = { id, created, changed, differs, revision, nextAt }
  return answers
}

const made = ({ n, put: { id, nextAt } }: Numbered): AnswerRow => {
  return { n, id, created: true, changed: true, differs: false, revision: 1, next_at: nextAt }
}

const undone = <Answer extends Pick<PutAnswer, 'created' | 'changed' | 'revision'>>(answer: Answer): Answer =>
  answer.changed ? { ...answer, created: false, changed: false, revision: answer.revision - 1 } : answer

/** Whoever saw it wants it changed, not made. */
const gone = ({ n, put: { id } }: Numbered): AnswerRow => {
  return { n, id, created: false, changed: false, differs: true, revision: 0, next_at: null }
}

const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1)
const byKey = ({ put: { definition: a } }: Numbered, { put: { definition: b } }: Numbered): number =>
  compare(a.workspace, b.workspace) || compare(a.key, b.key)

/** In order of their keys, so that two processes that put the same ones cannot wait for each other in a circle. */
function inOrder(schedules: readonly PutSchedule[]): Numbered[] {
  const list = schedules.map((put, n) => ({ n, put })).sort(byKey)
  for (let i = 1; i < list.length; i++) {
    if (byKey(list[i - 1]!, list[i]!) !== 0) continue
    throw new EverytickError('DUPLICATE_KEY', `schedule "${list[i]!.put.definition.key}" stands twice in one call`, {
      hint: 'give each schedule of a workspace a key of its own',
    })
  }
  return list
}
