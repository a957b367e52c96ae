/** Stores what handlers log, many lines at a time and a bounded number of each attempt; a store that fails costs lines, never a run. */
import { EverytickError } from '../errors.ts'
import type { LogLevel } from '../observe/logger.ts'
import type { LogStore, NewLogLine } from '../store/contract/logs.ts'
import type { Clock } from '../time/clock.ts'
import type { Timers } from '../time/timers.ts'
import type { LeasedRun } from './leased-runs.ts'
import { storableLine } from './log-line.ts'

export interface Said {
  readonly level: LogLevel
  readonly message: unknown
  readonly data: unknown
}

export interface RunLog {
  /** Never throws. */
  add(leased: LeasedRun, said: Said): void
  /** What this attempt said is stored soon; one that said nothing costs nothing. */
  ended(leased: LeasedRun): void
  /** Resolves when everything said so far was stored, or could not be. */
  idle(): Promise<void>
  /** The same, and nothing more is taken. */
  stop(): Promise<void>
  /** Forgets what is waiting, as a crash would. */
  crash(): void
}

export interface RunLogOptions {
  readonly logs: LogStore
  readonly clock: Clock
  readonly timers: Timers
  readonly onError: (error: unknown, retryInMs: number) => void
  /** Lines were stored after the store had failed. */
  readonly onRecovery?: () => void
}

const FLUSH_MS = 500
const FLUSH_LINES = 200
const RETRY_MS = 2000
/** Of one attempt. */
const MAX_LINES = 2000
const MAX_BYTES = 256 * 1024
/** Of all attempts together while the database is away. */
const MAX_WAITING_LINES = 10_000
const MAX_WAITING_BYTES = 16 * 1024 * 1024

const DROPPED = `the log of this attempt is over ${MAX_LINES} lines or ${MAX_BYTES / 1024} KiB, or could not be stored in time; the rest was dropped`

interface Spent {
  lines: number
  bytes: number
  full: boolean
}

interface Waiting {
  readonly line: NewLogLine
  readonly bytes: number
}

/** The database writes again when it is back, or when its disk has space. */
const MAY_COME_BACK: ReadonlySet<string> = new Set(['STORE_FULL', 'STORE_STANDBY', 'STORE_UNREACHABLE'])

export function createRunLog({ logs, clock, timers, onError, onRecovery }: RunLogOptions): RunLog {
  /** Keyed weakly: work that outlives its attempt may still speak. */
  const spent = new WeakMap<LeasedRun, Spent>()
  let waiting: Waiting[] = []
  let waitingBytes = 0
  let cancelTimer: (() => void) | null = null
  let working: Promise<void> | null = null
  /** Whether what waits is to be stored now rather than with the timer. */
  let due = false
  let isAway = false
  /** Whether the last write failed. */
  let isFailing = false
  let closed = false
  let crashed = false

  const keep = (each: Waiting): void => {
    waiting.push(each)
    waitingBytes += each.bytes
    if (waiting.length >= FLUSH_LINES) hurry()
    else schedule(FLUSH_MS)
  }

  const schedule = (ms: number): void => {
    // Whoever writes looks again when it is done.
    if (!working) cancelTimer ??= timers.set(ms, flush)
  }

  /** A database that is away is asked again when its time has come, however much is said meanwhile. */
  const hurry = (): void => {
    if (!isAway) flush()
  }

  const flush = (): void => {
    cancelTimer?.()
    cancelTimer = null
    due = true
    // The next microtask gathers everything that is said in this turn.
    working ??= Promise.resolve().then(drain)
  }

  const drain = async (): Promise<void> => {
    isAway = false
    while (due && !isAway && !crashed) {
      due = false
      isAway = await writeAll()
    }
    working = null
    if (waiting.length > 0 && !closed) schedule(isAway ? RETRY_MS : FLUSH_MS)
  }

  /** Answers whether the database is away; then what was not written waits on. What it refuses is dropped. */
  const writeAll = async (): Promise<boolean> => {
    const taken = waiting
    waiting = []
    waitingBytes = 0
    for (let from = 0; from < taken.length && !crashed; from += FLUSH_LINES) {
      try {
        await logs.append(taken.slice(from, from + FLUSH_LINES).map(({ line }) => line))
        if (isFailing) onRecovery?.()
        isFailing = false
      } catch (error) {
        isFailing = true
        const mayComeBack = error instanceof EverytickError && MAY_COME_BACK.has(error.code)
        onError(error, mayComeBack ? RETRY_MS : 0)
        if (!mayComeBack) continue
        if (!closed) putBack(taken.slice(from))
        return true
      }
    }
    return false
  }

  const putBack = (unwritten: readonly Waiting[]): void => {
    waiting = [...unwritten, ...waiting]
    waitingBytes += unwritten.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  const spentBy = (leased: LeasedRun): Spent => {
    let found = spent.get(leased)
    if (!found) spent.set(leased, (found = { lines: 0, bytes: 0, full: false }))
    return found
  }

  const isTooMuch = ({ lines, bytes }: Spent, more: number): boolean =>
    lines >= MAX_LINES ||
    bytes + more > MAX_BYTES ||
    waiting.length >= MAX_WAITING_LINES ||
    waitingBytes + more > MAX_WAITING_BYTES

  const idle = async (): Promise<void> => {
    if (waiting.length > 0) flush()
    await working
  }

  return {
    add(leased, { level, message, data }) {
      if (closed) return
      const sum = spentBy(leased)
      if (sum.full) return
      const { id: runId, attempt } = leased.run
      const { bytes, ...words } = storableLine(message, data)
      const line = { runId, attempt, at: clock.now(), level }
      if (!isTooMuch(sum, bytes)) {
        sum.lines++
        sum.bytes += bytes
        keep({ line: { ...line, ...words }, bytes })
        return
      }
      sum.full = true
      // So many attempts that even saying so is too much are silent.
      if (waiting.length < 2 * MAX_WAITING_LINES)
        keep({ line: { ...line, level: 'warn', message: DROPPED, data: null }, bytes: DROPPED.length })
    },
    ended(leased) {
      if (waiting.length > 0 && spent.has(leased)) hurry()
    },
    idle,
    async stop() {
      closed = true
      await idle()
    },
    crash() {
      closed = true
      crashed = true
      cancelTimer?.()
      cancelTimer = null
      waiting = []
    },
  }
}
