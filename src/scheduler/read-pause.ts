/** Reads whether a new schedule is created paused, with reason and end; `schedules.ts` pauses existing ones. */
import { checkKeys, type Instant, readBoolean, readInstantOption, readText, refused } from '../options.ts'
import type { Pause } from '../schedule/schedule.ts'

export type PauseOption = boolean | { readonly reason?: string; readonly until?: Instant }

/** Without the actor, which is only known when the pause is written. */
export type InitialPause = Pick<Pause, 'reason' | 'until'>

export const PAUSE_KEYS = ['paused', 'enabled'] as const

const MAX_REASON = 500
const CREATED_PAUSED: InitialPause = Object.freeze({ reason: 'created paused', until: null })

export function readInitialPause(
  { paused, enabled }: { readonly paused?: PauseOption; readonly enabled?: boolean },
  of: string,
): InitialPause | null {
  if (paused === undefined) {
    return enabled === undefined || readBoolean(enabled, `${of}: enabled`) ? null : CREATED_PAUSED
  }
  if (enabled !== undefined)
    throw refused(`${of}: paused and enabled mean the same and cannot be combined`, 'use paused only')
  if (paused === false) return null
  if (paused === true) return CREATED_PAUSED
  checkKeys(paused, ['reason', 'until'], `${of}: paused`)
  const { reason = CREATED_PAUSED.reason, until } = paused
  return Object.freeze({
    reason: readText(reason, `${of}: paused.reason`, MAX_REASON),
    until: until === undefined ? null : readInstantOption(until, `${of}: paused.until`),
  })
}
