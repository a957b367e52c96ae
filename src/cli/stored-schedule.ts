/** Finds the schedule that a command names; `schedule-name.ts` parses names. */
import type { Backend } from './backend.ts'
import { readScheduleName, schedulePath } from './schedule-name.ts'

export interface StoredSchedule {
  readonly id: string
  readonly workspace: string
  readonly key: string
  readonly when: string | null
  /** Absent for schedules without a time zone, such as intervals. */
  readonly timezone?: string
}

export async function storedSchedule(backend: Backend, name: string): Promise<StoredSchedule> {
  return await backend.ask('GET', schedulePath(readScheduleName(name)))
}
