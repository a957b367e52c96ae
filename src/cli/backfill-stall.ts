/** Explains once why a backfill stays at 0 %: no live process plans, or none executes runs. Prints nothing if the key may not list processes. */
import { systemClock } from '../time/clock.ts'
import type { Backend } from './backend.ts'

/** Between two polls of the process list. */
const CHECK_MS = 5000

interface Process {
  readonly roles: readonly string[]
  readonly alive: boolean
  readonly draining: boolean
}

interface Progress {
  readonly state: string
  readonly done: number
  readonly kept: number
  readonly running: number
}

/** Call it with each poll of the backfill; returns a message at most once, otherwise null. */
export function createStallCheck(backend: Backend): (progress: Progress) => Promise<string | null> {
  let said = ''
  let checkAt = 0
  return async ({ state, done, kept, running }) => {
    if (state !== 'running' || done > kept || systemClock.elapsed() < checkAt) return null
    checkAt = systemClock.elapsed() + CHECK_MS
    const processes = await backend.ask<{ data: readonly Process[] }>('GET', '/workers').catch(() => null)
    const text = processes === null ? null : stallText(processes.data, running)
    if (text === null || text === said) return null
    said = text
    return text
  }
}

export function stallText(processes: readonly Process[], running: number): string | null {
  const alive = processes.filter(({ alive }) => alive)
  if (!alive.some(({ roles }) => roles.includes('scheduler')) && running === 0)
    return 'no process plans, so this backfill does not start: start "everytick serve" or "everytick worker --plan"'
  if (!alive.some(({ roles, draining }) => roles.includes('worker') && !draining))
    return 'no process executes runs, so this backfill waits: start "everytick worker"'
  return null
}
