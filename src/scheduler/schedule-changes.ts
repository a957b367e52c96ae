/** Emits an event for the log when this process changes schedules; inside a caller's transaction, before its commit. */
import type { ScheduleAction } from '../observe/engine-event.ts'
import type { Core } from './core.ts'

/** The most schedules that one event names. */
const MAX_NAMED = 5

export interface ScheduleChange {
  readonly action: ScheduleAction
  readonly schedules: readonly { readonly workspace: string; readonly key: string }[]
  readonly by: string
}

export function emitChange({ hub }: Pick<Core, 'hub'>, { action, schedules, by }: ScheduleChange): void {
  if (schedules.length === 0) return
  const names = schedules.slice(0, MAX_NAMED).map(({ workspace, key }) => `${workspace}/${key}`)
  hub.tell({ kind: 'schedules.changed', action, count: schedules.length, names, by })
}
