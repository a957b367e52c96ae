/** One look at the store, shared by all rules of a pass: what several of them ask for is read once; what each asks for is `gather.ts`. */
import type { Json } from '../../json.ts'
import type { QueueFact } from '../../observe/alert-facts.ts'
import { type Watch, watched, watchedMs } from '../../observe/watch.ts'
import type { Lock } from '../../store/contract/locks.ts'
import type {
  LongRun,
  PassedOver,
  TimeSpan,
  UnsuccessfulSubject,
  WaitingSchedule,
} from '../../store/contract/monitoring.ts'
import type { Stats, StatsScope } from '../../store/contract/stats.ts'
import type { Store } from '../../store/contract/store.ts'
import { isAlive, type WorkerRow } from '../../store/contract/workers.ts'
import type { Clock } from '../../time/clock.ts'
import { createMemory, type Memory } from './memory.ts'

export interface SeenQueue extends QueueFact {
  readonly running: number
}

export interface Snapshot {
  readonly store: Store
  /** By the database's clock. */
  readonly now: number
  readonly node: string
  /** This node's clock less the database's. */
  readonly skewMs: number
  /** For how long something has lasted since an instant, without time in which nobody watched; in a queue, without its pauses. */
  lastedMs(sinceAt: number, queue?: string): Promise<number>
  /** What was remembered from the look before, as it is after this one. */
  watch(): Promise<Watch>
  /** When a server last remembered a look; null when none ever did. */
  rememberedAt(): Promise<number | null>
  /** Remembers this look for the next one. Without it, a look writes nothing. */
  remember(): Promise<void>
  queues(): Promise<readonly SeenQueue[]>
  /** Those that were seen a moment ago. */
  workers(): Promise<readonly WorkerRow[]>
  /** When a process that may plan was last heard of, or held the planner's lease; null when there never was one. */
  plannerSeenAt(): Promise<number | null>
  locks(): Promise<readonly Lock[]>
  /** Of the last so many milliseconds, each asked once for all rules of a pass. */
  unsuccessful(forMs: number): Promise<readonly UnsuccessfulSubject[]>
  passedOver(forMs: number): Promise<readonly PassedOver[]>
  /** Runs that have been running for longer than so many milliseconds. */
  running(forMs: number): Promise<readonly LongRun[]>
  /** Schedules with runs of a queue that have been due for longer than so many milliseconds. */
  waiting(queue: string, forMs: number): Promise<readonly WaitingSchedule[]>
  readonly memory: Memory
  /** Of the last so many milliseconds. */
  stats(scope: StatsScope, windowMs: number): Promise<readonly Stats[]>
  /** How often the planner's lease changed hands in the last so many milliseconds, as far as somebody watched. */
  plannerChanges(windowMs: number): Promise<number>
}

/** Rows that one question reads, the newest or the oldest; of each workspace so many are answered. */
const MAX_UNSUCCESSFUL = 20_000
const MAX_PASSED_OVER = 5000
const MAX_RUNNING = 2000
const MAX_WAITING = 5000
/** Queues that only runs name, of which one look sees so many; the next look goes on behind them. */
const MAX_QUEUES = 1000
/** Of what is summed up, as much is read at once as any rule may ask for. */
const MAX_WINDOW_MS = 86_400_000
const FENCES = { kind: 'position', id: 'planner fences', workspace: '', state: '' } as const
const WATCH = { kind: 'position', id: 'alert watch', workspace: '', state: '' } as const
/** Changes of hands that are remembered. */
const MAX_FENCES = 500

type Fences = readonly (readonly [at: number, fence: number])[]

export interface SnapshotOptions {
  readonly store: Store
  readonly clock: Clock
  readonly node: string
  readonly memory?: Memory
  /** Queues to be looked at, wherever in their order this look is: those that alerts are about. */
  readonly queueNames?: Iterable<string>
}

export async function takeSnapshot({
  store,
  clock,
  node,
  memory = createMemory(),
  queueNames = [],
}: SnapshotOptions): Promise<Snapshot> {
  const before = clock.now()
  const now = await store.now()
  // Asked in between, so half of the way there and back is taken off.
  const skewMs = (before + clock.now()) / 2 - now
  const allWorkers = once(() => store.workers.list())
  const workers = once(async () => (await allWorkers()).filter((worker) => isAlive(worker, now)))
  const locks = once(() => store.locks.list())
  const rows = once(async () => {
    const swept = await store.queues.sweep({ after: memory.queue, limit: MAX_QUEUES, names: [...queueNames] })
    memory.queue = swept.next ?? ''
    return swept.rows
  })
  const stored = once(() => store.documents.get(WATCH.kind, WATCH.id))
  const watch = once(async () => {
    const paused = (await rows()).filter(({ pause }) => pause !== null).map(({ name }) => name)
    return watched(((await stored())?.data ?? null) as Watch | null, { now, paused })
  })
  const lastedMs: Snapshot['lastedMs'] = async (sinceAt, queue) => {
    const seen = await watch()
    const pausedAt = queue === undefined ? 0 : (seen.paused[queue] ?? 0)
    return watchedMs(seen, Math.max(sinceAt, pausedAt))
  }
  const stats = new Map<StatsScope, Promise<readonly Stats[]>>()
  const { monitoring } = store
  const lastly = (forMs: number): TimeSpan => ({ afterAt: now - forMs, untilAt: now })
  const unsuccessful = onceEach((forMs: number) => monitoring.unsuccessful(lastly(forMs), MAX_UNSUCCESSFUL))
  const passedOver = onceEach((forMs: number) => monitoring.passedOver(lastly(forMs), MAX_PASSED_OVER))
  const running = onceEach((forMs: number) => monitoring.running({ startedBefore: now - forMs, limit: MAX_RUNNING }))
  const waiting = onceEach((text: string) => {
    const [queue, forMs] = JSON.parse(text) as [string, number]
    return monitoring.waiting(queue, { dueBefore: now - forMs, limit: MAX_WAITING })
  })
  const fences = once(async () => watchFences(store, { locks: await locks(), now }))
  return {
    store,
    now,
    node,
    skewMs,
    lastedMs,
    watch,
    rememberedAt: async () => ((await stored())?.data as Watch | undefined)?.seenAt ?? null,
    async remember() {
      const version = (await stored())?.version ?? 0
      // Lost to another process, which saw the same.
      await store.documents.put({ ...WATCH, data: (await watch()) as unknown as Json, from: version })
    },
    workers,
    async plannerSeenAt() {
      const seen = (await allWorkers()).filter(({ roles }) => roles.includes('scheduler')).map(({ seenAt }) => seenAt)
      const leased = (await locks()).filter(({ name }) => name === 'planner').map(({ until }) => until)
      const all = [...seen, ...leased]
      return all.length === 0 ? null : Math.max(...all)
    },
    locks,
    unsuccessful,
    passedOver,
    running,
    waiting: (queue, forMs) => waiting(JSON.stringify([queue, forMs])),
    memory,
    queues: once(async () => {
      const serving = (await workers()).filter(({ roles, draining }) => roles.includes('worker') && !draining)
      return Promise.all(
        (await rows()).map(async ({ name, configured, workspace, ready, running, oldestDueAt, pause }) => {
          const those = serving.filter(({ queues }) => (queues[name] ?? 0) > 0).length
          const waitedMs = oldestDueAt === null ? 0 : await lastedMs(oldestDueAt, name)
          const namedBy = configured || those > 0 ? '' : (workspace ?? '')
          return { name, ready, running, oldestDueAt, waitedMs, paused: pause !== null, workers: those, namedBy }
        }),
      )
    }),
    async stats(scope, windowMs) {
      const reading = stats.get(scope) ?? store.stats.read(scope, { fromAt: now - MAX_WINDOW_MS, toAt: now })
      stats.set(scope, reading)
      return (await reading).filter(({ at }) => at >= now - windowMs)
    },
    async plannerChanges(windowMs) {
      const seen = await fences()
      const newest = seen.at(-1)
      if (!newest) return 0
      const start = seen.findLast(([at]) => at <= now - windowMs) ?? seen[0]!
      return newest[1] - start[1]
    },
  }
}

/** Writes down each new fence with its instant, where whoever looks next finds it. */
async function watchFences(
  { documents }: Store,
  { locks, now }: { readonly locks: readonly Lock[]; readonly now: number },
): Promise<Fences> {
  const stored = await documents.get(FENCES.kind, FENCES.id)
  const seen = (stored?.data ?? []) as unknown as Fences
  const fence = locks.find(({ name }) => name === 'planner')?.fence
  if (fence === undefined || fence === seen.at(-1)?.[1]) return seen
  const next = [...seen, [now, fence] as const].slice(-MAX_FENCES)
  // Lost to another, it is written at the next pass.
  await documents.put({ ...FENCES, data: next, from: stored?.version ?? 0 })
  return next
}

function onceEach<Key, T>(work: (key: Key) => Promise<T>): (key: Key) => Promise<T> {
  const begun = new Map<Key, Promise<T>>()
  return (key) => {
    const one = begun.get(key) ?? work(key)
    begun.set(key, one)
    return one
  }
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let begun: Promise<T> | null = null
  return () => (begun ??= work())
}
