/** Decides, without I/O, whether every occurrence of one schedule has exactly one run or record. */
import type { Trigger } from '../run/run.ts'
import type { RunState } from '../run/state.ts'
import { allSteps, type Steps } from '../time/steps.ts'
import type { DefinitionPeriods, Timeline } from './definition-periods.ts'

/** A run, as far as it answers for an occurrence. */
export interface AuditedRun {
  readonly scheduledAt: number
  readonly trigger: Trigger
  readonly revision: number
  readonly state: RunState
  readonly startedAt: number | null
}

/** A range of occurrences that did not become runs. */
export interface AuditedRange {
  readonly fromAt: number
  readonly toAt: number
  readonly count: number
}

export interface AuditFacts {
  readonly periods: DefinitionPeriods
  readonly timeline: Timeline
  /** Those that reach into the span, with all they cover. */
  readonly nonRuns: readonly AuditedRange[]
  /** Occurrences with afterAt < instant <= untilAt are looked at. */
  readonly span: { readonly afterAt: number; readonly untilAt: number }
  readonly watermarkAt: number
  /** Whether it has made all its runs, so that later occurrences are none. */
  readonly done: boolean
}

export interface Offences {
  readonly count: number
  /** The first hundred, by their instants. */
  readonly first: readonly number[]
}

/** expected = runs + nonRuns + lost.count. */
export interface Audited {
  /** Occurrences in the span, up to the watermark. */
  readonly expected: number
  readonly runs: number
  readonly nonRuns: number
  /** Backfill runs; they are extra. */
  readonly backfills: number
  /** Occurrences in the span that the planner has not reached yet. */
  readonly pending: number
  /** Occurrences with neither a run nor a record. */
  readonly lost: Offences
  /** Occurrences with more than one run or record. */
  readonly doubled: Offences
  /** Runs and records of instants that are not occurrences, and records with a wrong count. */
  readonly unexplained: Offences
}

/** Works in small steps: a hostile schedule has as many records as seconds. */
export interface Auditor {
  /** In nominal order; it need not be all at once. */
  add(runs: readonly AuditedRun[]): Steps<void>
  end(): Steps<Audited>
}

/** Runs or records between two places where other work may come between. */
const STRIDE = 50

const NAMED = 100

export function* auditing({ periods, timeline, nonRuns, span, watermarkAt, done }: AuditFacts): Steps<Auditor> {
  const { afterAt } = span
  const untilAt = Math.max(afterAt, Math.min(span.untilAt, watermarkAt))
  const [lost, doubled, unexplained] = [offences(), offences(), offences()]
  const ranges: Ledger[] = []
  for (const range of nonRuns) if (ranges.push(ledgerOf(range)) % STRIDE === 0) yield
  ranges.sort((a, b) => a.fromAt - b.fromAt)
  const covered = yield* cover()
  let [runs, backfills] = [0, 0]
  /** Everything up to here is dealt with, and the first stretch that reaches beyond it. */
  let [position, stretch] = [afterAt, 0]
  let lastAt = Number.NaN

  /** What is known of a record; one that counts fewer than it spans leaves room for others among its occurrences. */
  function ledgerOf({ fromAt, toAt, count }: AuditedRange): Ledger {
    // Where its beginning lies before what is known, only the part in the span can be judged.
    const known = periods.complete || fromAt > periods.list[0]!.afterAt
    const room = known ? timeline.countAt(fromAt - 1, toAt) - count : 0
    if (known && (room < 0 || !timeline.isSlot(fromAt) || !timeline.isSlot(toAt))) unexplained.add(fromAt)
    return { fromAt, toAt, room, whole: known && fromAt > afterAt && toAt <= untilAt }
  }

  /** The records as stretches that do not touch; what two of them claim is doubled, unless one has room for it. */
  function* cover(): Steps<Stretch[]> {
    const stretches: Stretch[] = []
    for (const [i, range] of ranges.entries()) {
      if (i % STRIDE === STRIDE - 1) yield
      const last = stretches.at(-1)
      if (!last || range.fromAt > last.toAt) {
        stretches.push({ fromAt: range.fromAt, toAt: range.toAt, of: [range] })
        continue
      }
      const [from, to] = [Math.max(range.fromAt - 1, afterAt), Math.min(range.toAt, last.toAt, untilAt)]
      let shared = from < to ? timeline.countAt(from, to) : 0
      for (const each of [range, ...last.of]) {
        const taken = Math.max(0, Math.min(shared, each.room))
        each.room -= taken
        shared -= taken
      }
      if (shared > 0) doubled.walk(timeline, { afterAt: from, count: shared })
      last.toAt = Math.max(last.toAt, range.toAt)
      last.of.push(range)
    }
    return stretches
  }

  /** No run up to `toAt`: what no record covers is lost. */
  function* pass(toAt: number): Steps<void> {
    for (let passed = 1; position < toAt; passed++) {
      if (passed % STRIDE === 0) yield
      while (stretch < covered.length && covered[stretch]!.toAt <= position) stretch++
      const next = covered[stretch]
      const gapTo = Math.min(toAt, next ? next.fromAt - 1 : toAt)
      const firstAt = gapTo > position ? timeline.nextAt(position) : null
      if (firstAt !== null && firstAt <= gapTo) {
        lost.walk(timeline, { afterAt: position, count: timeline.countAt(position, gapTo) })
      }
      position = Math.max(gapTo, Math.min(toAt, next ? next.toAt : toAt))
    }
  }

  function* take(run: AuditedRun): Steps<void> {
    const at = run.scheduledAt
    if (at <= afterAt || at > untilAt) return
    if (run.trigger === 'backfill') backfills++
    else if (at === lastAt) doubled.add(at)
    else yield* count(run)
    if (run.trigger !== 'backfill') lastAt = at
  }

  function* count({ scheduledAt: at, revision, state, startedAt }: AuditedRun): Steps<void> {
    yield* pass(at - 1)
    while (stretch < covered.length && covered[stretch]!.toAt < at) stretch++
    const near = covered[stretch]
    const within = near && near.fromAt <= at ? near : null
    if (!timeline.isSlot(at)) {
      // One that was planned ahead and cancelled before an edit: an occurrence of the definition that planned it.
      if (timeline.ofRevision(revision).nextAt(at - 1) !== at) unexplained.add(at)
      return
    }
    position = at
    if (!within) {
      runs++
      return
    }
    const roomy = within.of.find(({ fromAt, toAt, room }) => room > 0 && fromAt <= at && at <= toAt)
    // Both say that it did not run: cancelled ahead of time, and then passed over by a pause.
    if (!roomy && state === 'cancelled' && startedAt === null) return
    runs++
    if (roomy) roomy.room--
    else doubled.add(at)
  }

  return {
    *add(page) {
      for (const [i, run] of page.entries()) {
        if (i % STRIDE === STRIDE - 1) yield
        yield* take(run)
      }
    },
    *end() {
      yield* pass(untilAt)
      for (const { fromAt, room, whole } of ranges) if (whole && room > 0) unexplained.add(fromAt)
      const expected = timeline.countAt(afterAt, untilAt)
      return {
        ...{ expected, runs, nonRuns: expected - runs - lost.found().count, backfills },
        pending: done ? 0 : timeline.countAt(untilAt, span.untilAt),
        ...{ lost: lost.found(), doubled: doubled.found(), unexplained: unexplained.found() },
      }
    },
  }
}

interface Ledger {
  readonly fromAt: number
  readonly toAt: number
  /** Occurrences that it spans and does not count. */
  room: number
  /** Whether all it spans is looked at. */
  readonly whole: boolean
}

interface Stretch {
  readonly fromAt: number
  toAt: number
  readonly of: Ledger[]
}

interface Tally {
  add(at: number): void
  walk(timeline: Timeline, from: { readonly afterAt: number; readonly count: number }): void
  found(): Offences
}

/** All are counted, and only the first are walked to. */
function offences(): Tally {
  const first: number[] = []
  let total = 0
  const name = (at: number): unknown => first.length < NAMED && first.push(at)
  return {
    add(at) {
      total++
      name(at)
    },
    walk(timeline, { afterAt, count }) {
      total += count
      let at = timeline.nextAt(afterAt)
      for (let i = 0; i < count && at !== null && first.length < NAMED; i++, at = timeline.nextAt(at)) name(at)
    },
    found: () => ({ count: total, first: first.toSorted((a, b) => a - b) }),
  }
}

/** The whole at once, for those who have all runs at hand. */
export function audit(facts: AuditFacts, runs: readonly AuditedRun[]): Audited {
  return allSteps(wholeAudit(facts, runs))
}

function* wholeAudit(facts: AuditFacts, runs: readonly AuditedRun[]): Steps<Audited> {
  const one = yield* auditing(facts)
  yield* one.add(runs)
  return yield* one.end()
}
