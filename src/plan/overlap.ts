/** Decides, without I/O, about the runs of one concurrency group, in which one run at a time may be active; the store writes each move only where it still applies. */
import type { Overlap, Readiness } from '../run/run.ts'

/** A concurrency group's run as the decision needs it. */
export interface GroupRun {
  readonly id: string
  readonly scheduleId: string | null
  readonly state: 'pending' | 'running'
  readonly readiness: Readiness
  readonly overlap: Overlap
  readonly scheduledAt: number | null
  readonly dueAt: number
  /** 0 until it was claimed for the first time. */
  readonly fence: number
  readonly cancelRequested: boolean
}

export interface ConcurrencyGroup {
  readonly group: string
  /** Its open run, and those that are not ready in the order of `inLine`, as many as were read. */
  readonly runs: readonly GroupRun[]
}

export type GroupMove =
  /** May be claimed from now on. */
  | { readonly kind: 'ready'; readonly id: string }
  /** Decided: it waits for the runs before it. */
  | { readonly kind: 'block'; readonly id: string }
  /** Becomes no run: it came due while `behind` was before it. `behind` is never skipped later, so that the record names a run that exists. */
  | { readonly kind: 'skip'; readonly id: string; readonly behind: string }
  /** Aborts the active run, or cancels it at once if no worker executes it. */
  | { readonly kind: 'cancel'; readonly id: string; readonly for: string }

/** A run is opened this much before it is due, so that it starts on time; earlier it would keep others waiting for nothing. */
export const OPEN_AHEAD_MS = 15_000

/** Nominal order; runs made by hand stand where they are due. */
export const inLine = (a: GroupRun, b: GroupRun): number =>
  (a.scheduledAt ?? a.dueAt) - (b.scheduledAt ?? b.dueAt) || (a.id < b.id ? -1 : 1)

/**
 * Runs still to come are let be, unless nobody is before them: then the first is opened a little ahead of its time. A run
 * that came due while another was unfinished does what its policy says, and says it once.
 */
export function decideGroup({ runs }: ConcurrencyGroup, now: number): GroupMove[] {
  const moves: GroupMove[] = []
  const skip = (run: GroupRun, behind: string): number => moves.push({ kind: 'skip', id: run.id, behind })
  const open = runs.find(({ readiness }) => readiness === 'ready')
  let line = runs.filter(({ readiness }) => readiness !== 'ready').sort(inLine)
  const isDue = ({ dueAt }: GroupRun): boolean => dueAt <= now

  const newest = line.findLast(
    (run) => isDue(run) && run.readiness === 'undecided' && run.overlap === 'cancel_previous',
  )
  if (newest) {
    const cancel = (run: GroupRun): number => moves.push({ kind: 'cancel', id: run.id, for: newest.id })
    // Runs created by hand and caught-up runs wait their turn; of all others only the newest stays.
    const givesWay = (run: GroupRun): boolean => run.overlap !== 'queue' && inLine(run, newest) < 0
    for (const run of line.filter(givesWay)) {
      // Records of skipped occurrences may name a run that was decided about, so it ends as a run that is found by its id.
      if (run.readiness === 'blocked') cancel(run)
      else skip(run, newest.id)
    }
    line = line.filter((run) => !givesWay(run))
    const previous = open && inLine(open, newest) < 0 ? open : undefined
    if (previous && !isOwedAStart(previous) && !previous.cancelRequested) cancel(previous)
  }

  const holder = open ?? line.find(({ dueAt }) => dueAt <= now + OPEN_AHEAD_MS)
  if (!open && holder) moves.push({ kind: 'ready', id: holder.id })
  // Never one that gives way itself, and so is gone before this is written.
  const before = newest ?? holder
  let waiting = 0
  for (const run of line) {
    if (run === holder || !isDue(run)) continue
    const waits = run.readiness === 'blocked' || run === newest || run.overlap === 'queue'
    if (waits || (run.overlap === 'queue_one' && waiting === 0)) {
      waiting++
      if (run.readiness === 'undecided') moves.push({ kind: 'block', id: run.id })
    } else skip(run, before!.id)
  }
  return moves
}

/** An occurrence that waits its turn under every policy keeps it until a worker has claimed it; after that a newer run may cancel it. */
const isOwedAStart = ({ overlap, state, fence, scheduledAt }: GroupRun): boolean =>
  overlap === 'queue' && state === 'pending' && fence === 0 && scheduledAt !== null
