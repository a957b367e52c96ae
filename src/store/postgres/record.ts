/** Writes plans in batches: cursors, runs and non-runs together; which plans there are is decided by `plan`, which are due by `due.ts`. */
import type { Plan } from '../../plan/plan.ts'
import type { Executor } from '../contract/executor.ts'
import type { Connection } from './connection.ts'
import { isBusy, isTaken } from './failure.ts'
import { isSimple, type SimpleRow, simpleStatement, simpleValues } from './record-simple.ts'
import { type RecordRow, recordStatement, recordValues, WAIT_LIMIT_MS } from './record-statement.ts'
import type { RowAddresses } from './row-addresses.ts'
import { unprepared, within } from './statement.ts'

export interface Recorded {
  readonly answers: ('recorded' | 'stale')[]
  /** In which there are new runs. */
  readonly queues: string[]
}

export type Record = (plans: readonly Plan[], tx?: Executor) => Promise<Recorded>

export function createRecord(connection: Connection, schema: string, addresses: Pick<RowAddresses, 'take'>): Record {
  const [atOnce, patiently] = [recordStatement(schema, 'skip locked'), recordStatement(schema, '')]
  const usual = simpleStatement(schema, WAIT_LIMIT_MS)
  const patience = unprepared(`select set_config('lock_timeout', '${WAIT_LIMIT_MS}ms', true)`)

  /** Answers the places of those left to write: they are of another kind, or something was in their way. */
  const usually = async (plans: readonly Plan[], queues: Set<string>): Promise<number[]> => {
    const given = plans.filter(isSimple)
    const rows =
      given.length === 0
        ? []
        : await connection.bulk.ask<SimpleRow>(usual, simpleValues(given, addresses)).catch(inTheWay)
    let made = 0
    for (const { queue, number } of rows) {
      if (queue !== null) queues.add(queue)
      made += number
    }
    if (made === plans.length) return []
    const written = new Set(
      made === given.length ? given.map(({ scheduleId }) => scheduleId) : rows.map(({ id }) => id),
    )
    return [...plans.keys()].filter((n) => !(isSimple(plans[n]!) && written.delete(plans[n]!.scheduleId)))
  }

  /** Where somebody is just opening a run of one of these groups, all are written closed: whoever looks at groups opens them. */
  const now = async (plans: readonly Plan[]): Promise<RecordRow[]> => {
    try {
      return await connection.bulk.ask<RecordRow>(atOnce, recordValues(plans))
    } catch (error) {
      if (!isBusy(error)) throw error
      return connection.bulk.ask<RecordRow>(atOnce, recordValues(plans, { opening: false }))
    }
  }

  /** Whoever holds a cursor longer, such as a caller's open transaction, makes its plan stale for now. */
  const waiting = async (plans: readonly Plan[]): Promise<RecordRow[] | null> => {
    try {
      return await connection.bulk.transact(async (ask) => {
        await ask(patience, [])
        return ask<RecordRow>(patiently, recordValues(plans))
      })
    } catch (error) {
      if (isBusy(error)) return null
      throw error
    }
  }

  /** Its cursors are locked by whoever holds the transaction; what it opens would be in the way of others until it ends. */
  const inside = (tx: Executor, plans: readonly Plan[]): Promise<RecordRow[]> =>
    within(tx)<RecordRow>(patiently, recordValues(plans, { opening: false }))

  return async (plans, tx) => {
    const answers = plans.map((): 'recorded' | 'stale' => 'recorded')
    const queues = new Set<string>()
    const at = (places: readonly number[]): Plan[] => places.map((n) => plans[n]!)
    /** Takes down what became of the plans at these places, and answers which of them somebody holds. */
    const heldOf = (rows: readonly RecordRow[], places: readonly number[]): number[] => {
      const leased: number[] = []
      for (const row of rows) {
        if (row.queue !== null) queues.add(row.queue)
        if (row.stale === null) continue
        answers[places[row.stale]!] = 'stale'
        if (row.leased) leased.push(places[row.stale]!)
      }
      return leased
    }
    const left = tx ? [...plans.keys()] : await usually(plans, queues)
    if (left.length === 0) return { answers, queues: [...queues] }
    const leased = heldOf(await (tx ? inside(tx, plans) : now(at(left))), left)
    const rows = leased.length === 0 || tx ? null : await waiting(at(leased))
    if (rows) {
      for (const n of leased) answers[n] = 'recorded'
      heldOf(rows, leased)
    }
    return { answers, queues: [...queues] }
  }
}

/** The longer way finds out what it is. */
function inTheWay(error: unknown): SimpleRow[] {
  if (isBusy(error) || isTaken(error)) return []
  throw error
}
