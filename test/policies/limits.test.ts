/** Limits and fairness of queues with three real worker processes on one Postgres, read from what the database itself wrote down. */
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { defineJob, type Everytick, everytick } from '../../src/index.ts'
import { openPostgres } from '../../src/postgres.ts'
import type { Run } from '../../src/run/run.ts'
import type { Store } from '../../src/store/contract/store.ts'
import { allRuns } from '../../src/testing/look-ahead.ts'
import { until } from '../chaos/fleet.ts'
import { createReadyDatabase } from '../postgres/ready-database.ts'

const WORKERS = 3
const work = defineJob({ name: 'work', run: () => {} })
const quiet = { debug() {}, info() {}, warn() {}, error() {} }

const endings: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

interface Hall {
  readonly app: Everytick
  readonly store: Store
  /** Starts the workers, calls `ready`, waits until everything in the queue has ended, and answers it. */
  work(queue: Record<string, unknown>, ready?: () => Promise<unknown>): Promise<Finished[]>
}
type Finished = Run & { readonly startedAt: number; readonly finishedAt: number }

async function hall(): Promise<Hall> {
  const database = await createReadyDatabase()
  endings.push(() => database.drop())
  const store = await openPostgres({ url: database.url })
  endings.push(() => store.close())
  const app = everytick({ store, jobs: [work], logger: quiet })
  const start = async (queue: Record<string, unknown>): Promise<void> => {
    const argument = JSON.stringify({ store: database.url, queues: { default: queue } })
    const child = fork(fileURLToPath(new URL('./limits-node.mjs', import.meta.url)), [argument])
    endings.push(() => ended(child))
    await new Promise<void>((resolve, reject) => {
      child.once('message', () => resolve())
      child.once('exit', (code) => reject(new Error(`a worker ended with ${code} before it was ready`)))
    })
  }
  return {
    app,
    store,
    async work(queue, ready) {
      await Promise.all(Array.from({ length: WORKERS }, () => start(queue)))
      await ready?.()
      const open = async (): Promise<boolean> =>
        (await store.history.runs({ states: ['pending', 'running'] }, { limit: 1 })).length === 0
      await until('every run has ended', open)
      return (await allRuns(store)) as Finished[]
    },
  }
}

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.kill('SIGKILL')
  })

/** The most that were claimed and not settled at once. */
function most(runs: readonly Finished[]): number {
  const changes = runs.flatMap(({ startedAt, finishedAt }) => [
    { at: startedAt, by: 1 },
    { at: finishedAt, by: -1 },
  ])
  // Of one millisecond the ends first: the database's clock does not tell them apart, and they are what made room.
  changes.sort((a, b) => a.at - b.at || a.by - b.by)
  let [now, highest] = [0, 0]
  for (const { by } of changes) {
    now += by
    highest = Math.max(highest, now)
  }
  return highest
}

describe('three workers on one Postgres', () => {
  it('never have more of a queue at work than its global concurrency, nor of a workspace than its share', async () => {
    const { app, work: serve } = await hall()
    const each = ['a', 'b', 'c'].map((workspace) => Array.from({ length: 60 }, () => ({ workspace })))
    // All workers are there before the first run is, and none can do as much as all of them may.
    const runs = await serve({ concurrency: 3, globalConcurrency: 4, perWorkspace: 2 }, () =>
      app.enqueueMany(work, each.flat()),
    )
    expect(runs.filter(({ state }) => state === 'succeeded')).toHaveLength(180)
    expect(most(runs)).toBeLessThanOrEqual(4)
    expect(most(runs)).toBeGreaterThan(2)
    for (const workspace of ['a', 'b', 'c'])
      expect(most(runs.filter((run) => run.workspace === workspace))).toBeLessThanOrEqual(2)
    // More than one had a part in it, so that the limit was one of all of them.
    expect(new Set(runs.map(({ workerId }) => workerId)).size).toBeGreaterThan(1)
  })

  it('grant no more in any stretch of time than the rate limit', async () => {
    const { app, work: serve } = await hall()
    await app.enqueueMany(
      work,
      Array.from({ length: 60 }, () => ({})),
    )
    const runs = await serve({ concurrency: 10, rateLimit: { limit: 10, per: '500ms' } })
    const starts = runs.map(({ startedAt }) => startedAt).sort((a, b) => a - b)
    expect(starts).toHaveLength(60)
    for (const [i, at] of starts.entries()) {
      const within = starts.slice(i).filter((other) => other < at + 500).length
      expect(within).toBeLessThanOrEqual(10)
    }
  })

  it('serve the single run of one workspace within a few claims, though another has thousands waiting', async () => {
    const { app, work: serve } = await hall()
    await app.enqueueMany(
      work,
      Array.from({ length: 6000 }, () => ({ workspace: 'crowd' })),
    )
    await app.enqueue(work, { workspace: 'single' })
    const runs = await serve({ concurrency: 5 })
    const starts = [...runs].sort((a, b) => a.startedAt - b.startedAt)
    const turn = starts.findIndex(({ workspace }) => workspace === 'single')
    const claims = new Set(starts.slice(0, turn).map(({ workerId, startedAt }) => `${workerId} ${startedAt}`))
    // Claims of one claim share its instant: so many claims came before, of three workers together.
    expect(claims.size).toBeLessThanOrEqual(5 * WORKERS)
  })
})
