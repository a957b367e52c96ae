/** Drives an engine by hand on a clock that stands still: no loops, only passes, each until nothing is due any more. */
import type { Engine, EngineOptions } from '../engine/engine.ts'
import { setUpQueues } from '../engine/queue-setup.ts'
import type { EngineEvent } from '../observe/engine-event.ts'
import { LONGEST_PAGE } from '../store/contract/planning.ts'
import type { Clock } from '../time/clock.ts'
import type { Timers } from '../time/timers.ts'

export interface Driver {
  /** For the app, which thinks that it starts loops. */
  createEngine(options: EngineOptions): Engine
  /** Everything due now is done; what waits for time to pass is left waiting. */
  settle(): Promise<void>
  crash(): void
  /** A new engine in the place of one that crashed. */
  revive(): void
  readonly alive: boolean
}

/** Work that takes longer than this, in real time, is taken to be waiting for the clock. */
export const WAIT_LIMIT_MS = 100
const ENDS: ReadonlySet<string> = new Set([
  'run.succeeded',
  'run.failed',
  'run.cancelled',
  'run.handed_over',
  'run.retry',
  'run.refused',
])

interface Life {
  alive: boolean
  readonly engine: Engine
  /** Attempts in flight; true once they were waited for in vain. */
  readonly attempts: Map<string, boolean>
  onEnd: (() => void) | null
}

export interface DriverOptions {
  readonly clock: Clock & { readonly timers: Timers }
  readonly create: (options: EngineOptions) => Engine
  readonly waitLimitMs: number
}

export function driver({ clock, create, waitLimitMs }: DriverOptions): Driver {
  let wanted: EngineOptions | null = null
  let life: Life | null = null
  let unwatch = (): void => {}

  const begin = (options: EngineOptions): Life => {
    const attempts = new Map<string, boolean>()
    const born: Life = {
      alive: true,
      attempts,
      onEnd: null,
      engine: create({ ...options, ...worldOf(() => born, options) }),
    }
    return born
  }

  /** What is left of a crashed engine must neither be heard nor woken. */
  const worldOf = (
    own: () => Life,
    { onEvent }: EngineOptions,
  ): Pick<EngineOptions, 'timers' | 'onEvent' | 'random'> => ({
    timers: { set: (ms, ring) => clock.timers.set(ms, () => own().alive && ring()) },
    // The middle of every span, so that tests can say when a retry comes.
    random: () => 0.5,
    onEvent(fact) {
      if (!own().alive) return
      track(own(), fact)
      onEvent(fact)
    },
  })

  /** The clock stops where the planner would look next: as far ahead of the next cursor as it plans. */
  const watchCursors = async ({ store, lookaheadMs, roles }: EngineOptions): Promise<void> => {
    unwatch()
    if (!roles.includes('scheduler')) return
    const { nextAt, now } = await store.planning.due({ lookaheadMs, limit: LONGEST_PAGE })
    if (nextAt !== null) unwatch = clock.timers.set(Math.max(1, nextAt - lookaheadMs - now), () => {})
  }

  const crash = (): void => {
    unwatch()
    if (!life) return
    life.alive = false
    life.engine.crash()
    life = null
  }

  return {
    createEngine(options) {
      wanted = options
      life = begin(options)
      return {
        start: () => setUpQueues(options.store.queues, options.queues),
        settled: async () => life?.engine.settled(),
        slots: () => life?.engine.slots() ?? [],
        inProgress: () => life?.engine.inProgress() ?? [],
        interrupt: async (uncaught) => life?.engine.interrupt(uncaught),
        crash,
        async stop(how) {
          const { engine } = life ?? {}
          unwatch()
          wanted = null
          life = null
          await engine?.stop(how)
        },
      }
    },
    async settle() {
      for (let again = true; again && life; ) {
        await life.engine.settled()
        again = life !== null && (await someEnd(life, waitLimitMs))
      }
      if (life && wanted) await watchCursors(wanted)
    },
    crash,
    revive() {
      if (!life && wanted) life = begin(wanted)
    },
    get alive() {
      return life !== null
    },
  }
}

function track(life: Life, fact: EngineEvent): void {
  if (fact.kind === 'run.started') life.attempts.set(nameOf(fact), false)
  else if ('run' in fact && ENDS.has(fact.kind)) {
    life.attempts.delete(nameOf(fact))
    life.onEnd?.()
  }
}

const nameOf = ({ run }: { run: { id: string; fence: number } }): string => `${run.id} ${run.fence}`

/** Waits for work that speaks to the outside; answers whether any ended, so that what follows from it is done too. */
async function someEnd(life: Life, waitLimitMs: number): Promise<boolean> {
  const fresh = [...life.attempts].filter(([, waited]) => !waited)
  if (fresh.length === 0) return false
  const ended = await new Promise<boolean>((resolve) => {
    const give = (): void => resolve(false)
    const timer = waitLimitMs > 0 ? setTimeout(give, waitLimitMs) : setImmediate(give)
    life.onEnd = () => {
      if (waitLimitMs > 0) clearTimeout(timer as NodeJS.Timeout)
      resolve(true)
    }
  })
  life.onEnd = null
  if (!ended) for (const name of life.attempts.keys()) life.attempts.set(name, true)
  return ended
}
