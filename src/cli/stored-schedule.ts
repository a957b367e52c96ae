/** Finds the schedule that a command names; how names are written is `schedule-name.ts`. */
import type { Backend } from './backend.ts'
import { readScheduleName, type ScheduleName, schedulePath } from './schedule-name.ts'

export interface StoredSchedule {
  readonly id: string
  readonly workspace: string
  readonly key: string
  readonly when: string | null
  /** Absent where there is none of its own, as for an interval. */
  readonly timezone?: string
}

export async function storedSchedule(backend: Backend, name: string): Promise<StoredSchedule> {
  return await backend.ask('GET', schedulePath(nameOf(name)))
}

/** Also `key@workspace`, which reads better aloud; a key with an @ of its own is written with its workspace in front. */
export function nameOf(text: string): ScheduleName {
  const at = text.includes('/') ? -1 : text.lastIndexOf('@')
  return at < 1 ? readScheduleName(text) : readScheduleName(`${text.slice(at + 1)}/${text.slice(0, at)}`)
}
