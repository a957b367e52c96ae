/** Finds the schedule that a command names; how names are written is `schedule-name.ts`. */
import type { Backend } from './backend.ts'
import { readScheduleName, schedulePath } from './schedule-name.ts'

export interface StoredSchedule {
  readonly id: string
  readonly workspace: string
  readonly key: string
  readonly when: string | null
  /** Absent where there is none of its own, as for an interval. */
  readonly timezone?: string
}

export async function storedSchedule(backend: Backend, name: string): Promise<StoredSchedule> {
  return await backend.ask('GET', schedulePath(readScheduleName(name)))
}
