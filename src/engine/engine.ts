/** Puts the loops of one process together and gives them one life: start, stop with a drain, crash; each loop is a file of its own. */

import { EverytickError } from '../errors.ts'
import type { Fact } from '../observe/fact.ts'
import { tzdataVersion } from '../schedule/time-zone.ts'
import type { Store } from '../store/contract/store.ts'
import type { Retention } from '../store/contract/upkeep.ts'
import type { Clock } from '../time/clock.ts'
import { systemTimers, type Timers } from '../time/timers.ts'
import { attempt, type EngineJob } from './attempt.ts'
import { createGrants, type Held } from './grants.ts'
import { createHeartbeat } from './heartbeat.ts'
import { createJanitor } from './janitor.ts'
import { type Leadership, leadership } from './leadership.ts'
import { createLoop, type Loop } from './loop.ts'
import { createPlanner } from './planner.ts'
import { createReaper } from './reaper.ts'
import { createSettler } from './settler.ts'
import { createWorker } from './worker.ts'

export type Role = 'scheduler' | 'worker'

export interface EngineOptions {
  readonly store: Store
  readonly clock: Clock
  readonly jobs: ReadonlyMap<string, EngineJob>
  readonly queues: Readonly<Record<string, number>>
  readonly roles: readonly Role[]
  readonly workerId: string
  readonly host: { readonly name: string; readonly pid: number }
  readonly leaseMs: number
  readonly lookaheadMs: number
  readonly retention: Retention
  readonly onFact: (fact: Fact) => void
  readonly random?: () => number
  readonly timers?: Timers
}

export interface Engine {
  /** Resolves when the loops run. Starting twice is starting once. */
  start(): Promise<void>
  /** Stops claiming, waits up to `drainMs` for what runs, tells the rest to stop, and hands back what is left without counting the attempt. */
  stop(options?: { readonly drainMs?: number }): Promise<void>
  /** Everything due now is planned, carried out and settled: for tests on a clock that stands still. */
  settled(): Promise<void>
  /** Forgets everything at once, as a killed process would. */
  crash(): void
}

/** Shorter than the lookahead, so that the next planner takes over before anything is late. */
const PLANNER_LEASE_MS = 4000
const DUTY_LEASE_MS = 5000
const JANITOR_LEASE_MS = 120_000
const BEAT_MS = 5000
/** For work that was told to stop, and for its verdict to be written. */
const LAST_WORDS_MS = 5000
/** Turns of the event loop after which work still under way is taken to be waiting for time to pass. */
const QUIET_TURNS = 400

export function createEngine(options: EngineOptions): Engine {
  const { store, clock, workerId, leaseMs, lookaheadMs, roles, onFact } = options
  const timers = options.timers ?? systemTimers
  const random = options.random ?? Math.random
  const onError = (where: string) => (error: unknown, retryInMs: number) =>
    onFact({ kind: 'engine.error', where, error, retryInMs })
  const lead = (name: string, forMs: number): Leadership =>
    leadership({ locks: store.locks, clock, name, holder: workerId, leaseMs: forMs })

  const grants = createGrants()
  const heartbeat = createHeartbeat({ claims: store.claims, clock, grants, leaseMs, onFact })
  const settler = createSettler({ claims: store.claims, history: store.history, timers, onError: onError('settle') })
  /** Everything that still has a verdict to be written. */
  const attempts = new Set<Promise<void>>()
  const track = (under: Promise<void>): Promise<void> => {
    attempts.add(under)
    return under.finally(() => attempts.delete(under))
  }
  let started = 0
  const attemptOptions = { ...options, timers, random, heartbeat, settler }
  const worker = createWorker({
    claims: store.claims,
    clock,
    grants,
    queues: options.queues,
    workerId,
    leaseMs,
    attempt(held, ended) {
      started++
      return track(attempt(held, attemptOptions, ended))
    },
    wake: () => loops.worker?.wake(),
  })

  const leaders = {
    planner: lead('planner', PLANNER_LEASE_MS),
    reaper: lead('reaper', DUTY_LEASE_MS),
    janitor: lead('janitor', JANITOR_LEASE_MS),
  }
  const planner = createPlanner({ planning: store.planning, leadership: leaders.planner, lookaheadMs, onFact })
  const reaper = createReaper({ claims: store.claims, leadership: leaders.reaper, workerId, random })
  const janitor = createJanitor({ upkeep: store.upkeep, leadership: leaders.janitor, retention: options.retention })
  const beat = async (): Promise<number> => {
    const { host, queues } = options
    await store.workers.beat({
      id: workerId,
      host: host.name,
      pid: host.pid,
      roles,
      queues,
      tzdata: tzdataVersion(),
      busy: worker.busy,
    })
    return BEAT_MS
  }

  const loop = (where: string, pass: () => Promise<number>): Loop =>
    createLoop({ timers, pass, onError: onError(where) })
  const schedules = roles.includes('scheduler')
  const works = roles.includes('worker')
  const loops: Record<string, Loop | undefined> = {
    planner: schedules ? loop('planner', planner.pass) : undefined,
    reaper: loop('reaper', reaper.pass),
    janitor: schedules ? loop('janitor', janitor.pass) : undefined,
    worker: works ? loop('worker', worker.pass) : undefined,
    heartbeat: works ? loop('heartbeat', heartbeat.pass) : undefined,
    beat: loop('beat', beat),
  }
  const stopLoops = (...names: string[]): Promise<unknown> => Promise.all(names.map((name) => loops[name]?.stop()))

  let unlisten: (() => Promise<void>) | null = null
  let life: 'new' | 'started' | 'stopped' = 'new'
  let stopping: Promise<void> | null = null

  const finish = async (drainMs: number): Promise<void> => {
    await unlisten?.()
    await stopLoops('planner', 'worker', 'reaper', 'janitor')
    for (const held of worker.close()) track(release(held))
    await patience(drainMs)
    const error = new EverytickError('NOT_STARTED', 'the worker is stopping')
    for (const held of grants.all()) held.stop('stopping', error)
    // With the database away there is nobody to tell; the leases end by themselves, and others go on.
    await patience(LAST_WORDS_MS)
    settler.crash()
    await stopLoops('heartbeat', 'beat')
    await Promise.allSettled([
      ...Object.values(leaders).map((leader) => leader.release()),
      store.workers.leave(workerId),
    ])
  }

  const release = async (held: Held): Promise<void> => {
    const verdict = { kind: 'again', delayMs: 0, reason: 'released', counts: false, error: null } as const
    await settler.add({ id: held.run.id, fence: held.run.fence, workerId, verdict })
    grants.remove(held)
  }

  /** Waits until nothing is under way, but no longer than `ms`. */
  const patience = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const cancel = timers.set(ms, resolve)
      const wait = async (): Promise<void> => {
        while (attempts.size > 0) await Promise.all(attempts)
        cancel()
        resolve()
      }
      void wait()
    })

  return {
    async start() {
      if (life !== 'new') return
      life = 'started'
      try {
        unlisten = await store.wake.listen((hint) => {
          if (hint.kind !== 'schedules') loops.worker?.wake()
          if (hint.kind !== 'runs') loops.planner?.wake()
        })
      } catch (error) {
        life = 'new'
        throw error
      }
      for (const each of Object.values(loops)) each?.start()
    },
    stop({ drainMs = 30_000 } = {}) {
      if (life === 'new') life = 'stopped'
      if (life === 'stopped') return stopping ?? Promise.resolve()
      life = 'stopped'
      stopping = finish(drainMs)
      return stopping
    },
    async settled() {
      for (let before = -1; before !== started; ) {
        before = started
        if (works) await heartbeat.pass()
        if (schedules) await planner.pass()
        await reaper.pass()
        if (works) await worker.pass()
        for (let turn = 0; turn < QUIET_TURNS && attempts.size > 0; turn++) await new Promise(setImmediate)
        if (attempts.size === 0) await settler.idle()
      }
    },
    crash() {
      life = 'stopped'
      settler.crash()
      worker.close()
      void stopLoops(...Object.keys(loops))
      void unlisten?.()
    },
  }
}
