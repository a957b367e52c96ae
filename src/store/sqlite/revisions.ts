/** Writes the revision of a schedule that changed, inside the transaction of the change; reading them is `ledger.ts`. */
import type { Revision } from '../contract/history.ts'
import type { Step } from './steps.ts'

const WRITE = `
  insert into everytick_revisions (schedule_id, workspace, key, kind, revision, at, by, cut_at, before, after)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

/** `before` and `after` are JSON texts. */
export interface NewRevision extends Omit<Revision, 'before' | 'after'> {
  readonly before: string
  readonly after: string
}

export const revise = (revision: NewRevision): Step => {
  const { scheduleId, workspace, key, kind, at, by, cutAt, before, after } = revision
  return { text: WRITE, values: [scheduleId, workspace, key, kind, revision.revision, at, by, cutAt, before, after] }
}

/** How a pause stands in a revision; `pause` is its JSON text. */
export const pauseText = (pause: string | null): string => `{"pause":${pause ?? 'null'}}`

/** Who changed it when nobody did. */
export const BY_ITSELF = 'everytick'
