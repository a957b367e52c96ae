/** Shows a schedule to people: its definition in the words it was written in, and when it fires next. */
import type { Json } from '../json.ts'
import { dateOf } from '../schedule/instant.ts'
import { type CatchUp, type Schedule, seedOf, type TimingSpec, timingOf } from '../schedule/schedule.ts'
import type { Timing } from '../schedule/timing.ts'
import { formatDuration } from '../time/duration.ts'

export interface ScheduleView {
  readonly id: string
  readonly workspace: string
  readonly key: string
  /** One English sentence; null when this version cannot read the timing. */
  readonly when: string | null
  readonly cron?: string
  readonly timezone?: string
  readonly every?: string
  readonly at?: Date
  readonly job: string
  readonly queue: string
  readonly payload: Json
  readonly priority: number
  readonly retry: {
    readonly attempts: number
    readonly backoff: 'exponential' | 'fixed'
    readonly base: string
    readonly max: string
  }
  readonly timeout: string | null
  readonly catchUp: CatchUp
  readonly catchUpWindow: string
  readonly catchUpLimit: number
  readonly description: string
  readonly tags: readonly string[]
  readonly metadata: Json
  readonly source: string
  /** Grows with every change. */
  readonly revision: number
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly paused: {
    readonly reason: string
    readonly by: string
    readonly at: Date
    readonly until: Date | null
  } | null
  /** Set aside because it cannot be planned; a changed definition lifts it. */
  readonly quarantined: { readonly code: string; readonly message: string; readonly at: Date } | null
  /** Null while paused or quarantined, and when there is no further occurrence. */
  readonly nextFireAt: Date | null
}

export function scheduleView(schedule: Schedule, now: number): ScheduleView {
  const { pause, quarantine, catchUp } = schedule
  const { retry, timeoutMs } = schedule.policy
  const timing = readable(schedule)
  return {
    id: schedule.id,
    workspace: schedule.workspace,
    key: schedule.key,
    when: timing?.describe() ?? null,
    ...timingWords(schedule.timing),
    job: schedule.job,
    queue: schedule.queue,
    payload: schedule.payload,
    priority: schedule.priority,
    retry: {
      attempts: retry.attempts,
      backoff: retry.backoff,
      base: formatDuration(retry.baseMs),
      max: formatDuration(retry.maxMs),
    },
    timeout: timeoutMs === undefined ? null : formatDuration(timeoutMs),
    catchUp: catchUp.catchUp,
    catchUpWindow: formatDuration(catchUp.windowMs),
    catchUpLimit: catchUp.limit,
    description: schedule.description,
    tags: schedule.tags,
    metadata: schedule.metadata,
    source: schedule.source,
    revision: schedule.revision,
    createdAt: new Date(schedule.createdAt),
    updatedAt: new Date(schedule.updatedAt),
    paused: pause && { ...pause, at: new Date(pause.at), until: dateOf(pause.until) },
    quarantined: quarantine && { ...quarantine, at: new Date(quarantine.at) },
    // Not the cursor, which runs ahead of time by the lookahead.
    nextFireAt: pause || quarantine || !timing ? null : dateOf(timing.nextAt(now)),
  }
}

/** A row written by a newer version, or with an unknown zone, must still be shown. */
function readable(schedule: Schedule): Timing | null {
  try {
    return timingOf(schedule.timing, seedOf(schedule))
  } catch {
    return null
  }
}

function timingWords(timing: TimingSpec): Pick<ScheduleView, 'cron' | 'timezone' | 'every' | 'at'> {
  switch (timing.kind) {
    case 'cron':
      return { cron: timing.cron, timezone: timing.timezone }
    case 'interval':
      return { every: formatDuration(timing.everyMs) }
    case 'once':
      return { at: new Date(timing.at) }
  }
}
