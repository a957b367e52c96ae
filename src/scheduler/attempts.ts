/** Decides, purely, what is listed of a run's attempts: the journal has those that another followed, and the row has the last, so that a run that succeeds at once writes no entry. */
import type { Json } from '../json.ts'
import type { Run } from '../run/run.ts'
import type { RetryReason } from '../run/settle.ts'
import type { JournalEntry } from '../store/contract/history.ts'

export interface AttemptEntry extends Omit<JournalEntry, 'kind'> {
  /** Of the last attempt: how it stands, or how it ended. Of all else what the journal calls it. */
  readonly kind: JournalEntry['kind'] | 'running' | 'succeeded' | 'failed' | 'cancelled'
}

/** The entries of attempts that ended, and that another attempt followed or may follow. */
const ENDED: ReadonlySet<string> = new Set<RetryReason>([
  'retry',
  'lost',
  'timed_out',
  'postponed',
  'released',
  'unknown_job',
])

/** In the order in which things happened. */
export function attemptsOf(run: Run, journal: readonly JournalEntry[]): AttemptEntry[] {
  const last = lastOf(run, journal)
  return last ? [...journal, last].sort((a, b) => a.at - b.at) : [...journal]
}

/** Whether the journal tells how the last attempt of the run ended. */
export const endsAttempt = ({ fence }: Run, journal: readonly JournalEntry[]): boolean =>
  journal.some((entry) => ENDED.has(entry.kind) && fenceOf(entry) === fence)

/** Null when the row has none: nothing was claimed yet, or the journal tells how the last attempt ended. */
function lastOf(run: Run, journal: readonly JournalEntry[]): AttemptEntry | null {
  const { id, state, attempt, fence, workerId, startedAt, finishedAt, error } = run
  if (startedAt === null || endsAttempt(run, journal)) return null
  const about = { attempt, fence, workerId, startedAt: new Date(startedAt).toISOString() }
  const entry = { runId: id, scheduleId: run.schedule?.id ?? null }
  switch (state) {
    case 'running':
      return { ...entry, kind: state, at: startedAt, data: about }
    case 'succeeded':
    case 'failed':
    case 'cancelled': {
      const failure = state === 'failed' ? { error: error as unknown as Json } : {}
      return { ...entry, kind: state, at: finishedAt!, data: { ...about, ...failure } }
    }
    default:
      return null
  }
}

const fenceOf = ({ data }: JournalEntry): unknown => (data as { readonly fence?: Json } | null)?.fence
