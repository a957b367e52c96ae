/** The runs of a simulated schedule: admits, starts and ends them, and loses them in outages, with the engine's own decisions. */
import { decideGroup, type GroupRun, OPEN_AHEAD_MS } from '../plan/overlap.ts'
import type { PlannedRun } from '../plan/plan.ts'
import type { RetryPolicy } from '../run/retry.ts'
import type { Readiness } from '../run/run.ts'
import { settle } from '../run/settle.ts'
import { createAgenda } from './agenda.ts'

export interface SimulatedRun {
  readonly planned: PlannedRun
  state: 'pending' | 'running' | 'succeeded' | 'failed' | 'cancelled' | 'skipped'
  readiness: Readiness
  dueAt: number
  attempt: number
  cancelRequested: boolean
  startedAt: number | null
  finishedAt: number | null
  /** Set when its worker died: the instant at which the lease expires and the run counts as lost. */
  lostAt: number | null
}

export interface RunsOptions {
  readonly laned: boolean
  readonly retry: RetryPolicy
  readonly leaseMs: number
  /** The durations of successive attempts; repeats after the last. */
  readonly durationsMs: readonly number[]
}

export interface SimulatedRuns {
  readonly all: readonly SimulatedRun[]
  /** Like the stores: the first run of a plan is ready if it is due soon and its concurrency group is empty. */
  add(planned: readonly PlannedRun[], now: number): void
  /** Processes everything that happens at this instant. */
  settle(now: number): void
  crash(now: number): void
  /** The next instant at which something happens. */
  nextAt(now: number): number | null
}

/** The most undecided runs that one decision considers, as in the stores. */
const IN_LINE = 100
/** The middle of the retry delay's jitter range. */
const ROLL = 0.5

export function createRuns({ laned, retry, leaseMs, durationsMs }: RunsOptions): SimulatedRuns {
  const all: SimulatedRun[] = []
  /** Undecided runs, in order. */
  const line = new Map<string, SimulatedRun>()
  const open = new Set<SimulatedRun>()
  const running = new Set<SimulatedRun>()
  const ends = createAgenda<SimulatedRun>()
  const dues = createAgenda<null>()
  let begun = 0

  const end = (run: SimulatedRun, state: SimulatedRun['state'], now: number): void => {
    run.state = state
    run.finishedAt = now
    running.delete(run)
    open.delete(run)
    line.delete(run.planned.id)
  }

  const lose = (run: SimulatedRun, now: number): void => {
    const { attempt, cancelRequested } = run
    const verdict = settle({ attempt, fence: attempt, cancelRequested, policy: { retry } }, { kind: 'lost' }, ROLL)
    if (verdict.kind === 'final') {
      end(run, verdict.state, now)
      return
    }
    running.delete(run)
    open.add(run)
    Object.assign(run, { state: 'pending', dueAt: now + verdict.delayMs, lostAt: null })
    dues.add(run.dueAt, null)
  }

  const begin = (run: SimulatedRun, now: number): void => {
    open.delete(run)
    running.add(run)
    Object.assign(run, { state: 'running', startedAt: now, attempt: run.attempt + 1 })
    ends.add(now + durationsMs[begun++ % durationsMs.length]!, run)
  }

  /** Returns whether anything changed. */
  const moveGroup = (now: number): boolean => {
    if (line.size === 0) return false
    const seen: SimulatedRun[] = [...open, ...running]
    for (const run of line.values()) if (seen.push(run) > IN_LINE) break
    const moves = decideGroup({ group: '', runs: seen.map(toGroupRun) }, now)
    const byId = new Map(seen.map((run) => [run.planned.id, run]))
    for (const move of moves) {
      const run = byId.get(move.id)!
      if (move.kind === 'skip') end(run, 'skipped', now)
      else if (move.kind === 'block') run.readiness = 'blocked'
      else if (move.kind === 'ready') {
        run.readiness = 'ready'
        line.delete(move.id)
        open.add(run)
      } else if (run.state === 'pending' || run.lostAt === null) end(run, 'cancelled', now)
      else run.cancelRequested = true
    }
    return moves.length > 0
  }

  return {
    all,
    add(planned, now) {
      for (const each of planned) {
        const isOpen = !laned || (line.size + open.size + running.size === 0 && each.dueAt <= now + OPEN_AHEAD_MS)
        const run: SimulatedRun = {
          ...{
            planned: each,
            state: 'pending',
            readiness: isOpen ? 'ready' : 'undecided',
            dueAt: each.dueAt,
            attempt: 0,
          },
          ...{ cancelRequested: false, startedAt: null, finishedAt: null, lostAt: null },
        }
        all.push(run)
        if (isOpen) open.add(run)
        else line.set(each.id, run)
        dues.add(each.dueAt, null)
        if (laned) dues.add(each.dueAt - OPEN_AHEAD_MS, null)
      }
    },
    settle(now) {
      dues.take(now)
      for (let moved = true; moved; ) {
        // Runs that a crash or a cancel interrupts end differently.
        for (const run of ends.take(now))
          if (run.state === 'running') {
            if (run.lostAt === null) end(run, 'succeeded', now)
            else if (run.lostAt <= now) lose(run, now)
          }
        moved = laned && moveGroup(now)
        for (const run of open) {
          if (run.dueAt > now) continue
          begin(run, now)
          moved = true
        }
      }
    },
    crash(now) {
      ends.clear()
      for (const run of running) {
        run.lostAt ??= now + leaseMs
        ends.add(run.lostAt, run)
      }
    },
    nextAt(now) {
      dues.take(now)
      const next = Math.min(ends.nextAt() ?? Number.POSITIVE_INFINITY, dues.nextAt() ?? Number.POSITIVE_INFINITY)
      return Number.isFinite(next) ? next : null
    },
  }
}

const toGroupRun = ({ planned, state, readiness, dueAt, attempt, cancelRequested }: SimulatedRun): GroupRun => ({
  id: planned.id,
  scheduleId: '',
  state: state as GroupRun['state'],
  readiness,
  overlap: planned.overlap,
  scheduledAt: planned.scheduledAt,
  dueAt,
  fence: attempt,
  cancelRequested,
})
