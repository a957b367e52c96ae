/** Knows which run the code at work belongs to, also in the timers and promises that a handler started; Node carries that along, except into listeners of emitters that others made. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Run } from '../run/run.ts'

/** A connection that a handler opens keeps it for its whole life, so it holds no payload. */
export type RunName = Pick<Run, 'id' | 'job'>

const storage = new AsyncLocalStorage<RunName>()

/** Does the work, and counts everything it starts as part of the run. */
export const withinRun = <T>({ id, job }: RunName, work: () => T): T => storage.run({ id, job }, work)

export const currentRun = (): RunName | undefined => storage.getStore()
