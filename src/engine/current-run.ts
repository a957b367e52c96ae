/** Tracks which run the current code belongs to, including timers and promises that a handler started (AsyncLocalStorage); listeners of foreign emitters are not tracked. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Run } from '../run/run.ts'

/** A connection that a handler opens keeps this object alive, so it contains no payload. */
export type RunName = Pick<Run, 'id' | 'job'>

const storage = new AsyncLocalStorage<RunName>()

/** Does the work, and counts everything it starts as part of the run. */
export const withinRun = <T>({ id, job }: RunName, work: () => T): T => storage.run({ id, job }, work)

export const currentRun = (): RunName | undefined => storage.getStore()
