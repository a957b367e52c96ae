/** A change as a list of steps, so that one copy of its SQL runs at once on our connection or awaited inside a caller's transaction. */
import type { Executor } from '../contract/executor.ts'
import type { Connection, Steps } from './connection.ts'
import type { Row, Value } from './driver.ts'

export type { Step, Steps } from './connection.ts'

/** One statement whose rows matter. */
export function* ask<R>(text: string, ...values: Value[]): Steps<readonly R[]> {
  return (yield { text, values }) as readonly unknown[] as readonly R[]
}

/** All steps in one go; nothing else can reach the connection between two of them. */
export function play<T>(connection: Connection, steps: Steps<T>): T {
  let step = steps.next()
  while (!step.done) step = steps.next(connection.all(step.value.text, ...step.value.values))
  return step.value
}

export async function playIn<T>(tx: Executor, steps: Steps<T>): Promise<T> {
  let step = steps.next()
  while (!step.done) {
    const { rows } = await tx.query(step.value.text, [...step.value.values])
    step = steps.next(rows as readonly Row[])
  }
  return step.value
}
