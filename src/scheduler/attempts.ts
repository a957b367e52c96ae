/** Lists the attempts of a run: the journal has all but the last, which is in the run's row, so that a run that succeeds at once writes no journal entry. */
import type { Json } from '../json.ts'
import type { Run } from '../run/run.ts'
import type { RetryReason } from '../run/settle.ts'
import type { JournalEntry } from '../store/contract/history.ts'

export interface AttemptEntry extends Omit<JournalEntry, 'kind'> {
  /** For the last attempt its state or outcome, for all other entries the kind of the journal entry. */
  readonly kind: JournalEntry['kind'] | 'running' | 'succeeded' | 'failed' | 'cancelled'
}

/** Journal entries of attempts that ended and after which another attempt follows or may follow. */
const ENDED: ReadonlySet<string> = new Set<RetryReason>([
  'retry',
  'lost',
  'timed_out',
  'postponed',
  'released',
  'unknown_job',
])

/** In chronological order. */
export function attemptsOf(run: Run, journal: readonly JournalEntry[]): AttemptEntry[] {
  const last = lastOf(run, journal)
  return last ? [...journal, last].sort((a, b) => a.at - b.at) : [...journal]
}

/** Whether the journal has the outcome of the run's last attempt. */
export const endsAttempt = ({ fence }: Run, journal: readonly JournalEntry[]): boolean =>
  journal.some((entry) => ENDED.has(entry.kind) && fenceOf(entry) === fence)

/** The attempt in the run's row; null when no worker has claimed the run, or when the journal has the last attempt. */
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
