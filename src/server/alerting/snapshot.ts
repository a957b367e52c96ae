/** A snapshot of the store for one pass: data that several rules need is read once. `gather.ts` selects the data per rule. */
import type { Json } from '../../json.ts'
import type { QueueFact } from '../../observe/alert-facts.ts'
import { type Watch, watched, watchedMs } from '../../observe/watch.ts'
import type { Lock } from '../../store/contract/locks.ts'
import type {
  LongRun,
  PassedOver,
  RetryingSchedule,
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
  /** By the database clock. */
  readonly now: number
  readonly node: string
  /** Clock of this node minus clock of the database. */
  readonly skewMs: number
  /** How long something has lasted, without periods when no server checked, and for a queue without its pauses. */
  lastedMs(sinceAt: number, queue?: string): Promise<number>
  /** The watch record of the previous pass, updated by this one. */
  watch(): Promise<Watch>
  /** When a server last recorded a pass; null if none ever did. */
  rememberedAt(): Promise<number | null>
  /** Records this pass for the next one; a snapshot writes nothing else. */
  remember(): Promise<void>
  queues(): Promise<readonly SeenQueue[]>
  /** Processes that reported recently. */
  workers(): Promise<readonly WorkerRow[]>
  /** When a process with the scheduler role last reported, or a process held the planner lease; null if never. */
  plannerSeenAt(): Promise<number | null>
  locks(): Promise<readonly Lock[]>
  /** Sums over the last `ms` milliseconds, each read once per pass. */
  unsuccessful(forMs: number): Promise<readonly UnsuccessfulSubject[]>
  passedOver(forMs: number): Promise<readonly PassedOver[]>
  /** Schedules with runs that wait for their next attempt, after one that ended within the given time. */
  retrying(forMs: number): Promise<readonly RetryingSchedule[]>
  /** Runs that have been running for longer than the given time. */
  running(forMs: number): Promise<readonly LongRun[]>
  /** Schedules with runs of a queue that have been due for longer than the given time. */
  waiting(queue: string, forMs: number): Promise<readonly WaitingSchedule[]>
  readonly memory: Memory
  /** Within the given time. */
  stats(scope: StatsScope, windowMs: number): Promise<readonly Stats[]>
  /** How often the planner lease changed hands within the given time, as far as servers have recorded it. */
  plannerChanges(windowMs: number): Promise<number>
}

/** The most rows that one query reads, newest or oldest; and the most results per workspace. */
const MAX_UNSUCCESSFUL = 20_000
const MAX_PASSED_OVER = 5000
const MAX_RETRYING = 2000
const MAX_RUNNING = 2000
const MAX_WAITING = 5000
/** The most queues that only runs name per scan; the next scan continues after them. */
const MAX_QUEUES = 1000
/** Sums are read once for the longest window that a rule may have. */
const MAX_WINDOW_MS = 86_400_000
const FENCES = { kind: 'position', id: 'planner fences', workspace: '', state: '' } as const
const WATCH = { kind: 'position', id: 'alert watch', workspace: '', state: '' } as const
/** The most lease changes to remember. */
const MAX_FENCES = 500

type Fences = readonly (readonly [at: number, fence: number])[]

export interface SnapshotOptions {
  readonly store: Store
  readonly clock: Clock
  readonly node: string
  readonly memory?: Memory
  /** Queues with an alert, which are checked regardless of the scan position. */
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
  // Subtract half of the round trip.
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
  const retrying = onceEach((forMs: number) => monitoring.retrying(lastly(forMs), MAX_RETRYING))
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
      // Another process recorded the same state first.
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
    retrying,
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

/** Records each new planner fence with its instant for the next pass. */
async function watchFences(
  { documents }: Store,
  { locks, now }: { readonly locks: readonly Lock[]; readonly now: number },
): Promise<Fences> {
  const stored = await documents.get(FENCES.kind, FENCES.id)
  const seen = (stored?.data ?? []) as unknown as Fences
  const fence = locks.find(({ name }) => name === 'planner')?.fence
  if (fence === undefined || fence === seen.at(-1)?.[1]) return seen
  const next = [...seen, [now, fence] as const].slice(-MAX_FENCES)
  // On a conflict, the next pass writes it.
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
