/** Writes down when old rows were last cleaned up and what went wrong since, so that any process can tell that it fails. */
import type { DocumentStore } from '../store/contract/documents.ts'

export interface CleanupDone {
  /** When a step last went well. */
  readonly at: number
  /** What the newest step that failed since then said; null when none did. */
  readonly error: string | null
}

const MARK = { kind: 'position', id: 'cleanup', workspace: '', state: '' } as const
/** Longer messages, such as those with a statement in them, are cut. */
const MAX_ERROR = 300

export async function cleanupDone(documents: DocumentStore): Promise<CleanupDone | null> {
  const found = await documents.get(MARK.kind, MARK.id)
  return found ? (found.data as unknown as CleanupDone) : null
}

/** Lost to another process, it is written with the next step. */
export async function markCleanup(documents: DocumentStore, now: number, error: unknown): Promise<void> {
  const found = await documents.get(MARK.kind, MARK.id)
  const before = found ? (found.data as unknown as CleanupDone) : null
  const data = error === null ? { at: now, error: null } : { at: before?.at ?? now, error: wordsOf(error) }
  await documents.put({ ...MARK, data, from: found?.version ?? 0 })
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, MAX_ERROR)
