/** A busy worker is killed with many runs claimed ahead: only what it had in hand is abandoned or repeated; what it never began goes on as if nothing had been. */
import { afterEach, describe, expect, it } from 'vitest'
import { defineJob, everytick } from '../../src/index.ts'
import { createFleet, type Fleet, until } from './fleet.ts'
import { type ChaosStore, STORES } from './stores.ts'

const CONCURRENCY = 10
const EACH = 400
const KILL_AFTER = 150

const once = defineJob({ name: 'once', delivery: 'at_most_once', run: () => {} })
const single = defineJob({ name: 'single', retry: { attempts: 1 }, run: () => {} })
const poison = defineJob({
  name: 'poison',
  retry: { attempts: 2, backoff: 'fixed', base: '50ms', max: '50ms' },
  run: () => {},
})
const reportPresence = defineJob({ name: 'beat', run: () => {} })

let fleet: Fleet | undefined
let opened: ChaosStore | undefined
afterEach(async () => {
  await fleet?.killAll()
  await opened?.close()
})

describe.each(Object.entries(STORES))('a busy worker on %s that is killed', (_, openStore) => {
  it('leaves at most its concurrency of runs abandoned or repeated, and counts no attempt of a run that never began', async () => {
    opened = await openStore()
    const { store, url } = opened
    fleet = createFleet(() => url)
    const app = everytick({ store, jobs: [once, single, reportPresence], logger: silent })
    const ids: string[] = []
    const few = Array.from({ length: 10 }, () => ({}))
    for (let n = 0; n < EACH; n += few.length)
      for (const job of [once, single, reportPresence])
        ids.push(...(await app.enqueueMany(job, few)).map(({ id }) => id))
    const first = fleet.start('worker')
    await until('the worker is busy', async () => fleet!.effects().length >= KILL_AFTER)
    // Else nothing is claimed ahead just then, and there is nothing to give back.
    const leased = await until('it holds more than it has begun', async () => {
      first.process.kill('SIGSTOP')
      const running = await store.history.runs({ states: ['running'] }, { limit: 1000 })
      if (running.length > CONCURRENCY) return running
      first.process.kill('SIGCONT')
      return null
    })
    first.process.kill('SIGKILL')
    await first.gone
    const before = fleet.effects().length
    // More would be more than a tenth of a second of work.
    expect(leased.length).toBeLessThan(15 * CONCURRENCY)
    expect(before).toBeLessThan(ids.length - 5 * CONCURRENCY)
    fleet.start('both')
    const isOver = async () => (await store.history.runs({ states: ['pending', 'running'] }, { limit: 1 })).length === 0
    await until('all runs have ended', isOver)
    const ended: Record<string, number> = {}
    for (const id of ids) {
      const { state } = (await store.history.run(id))!
      ended[state] = (ended[state] ?? 0) + 1
    }
    const { failed = 0, succeeded = 0 } = ended
    expect(failed + succeeded).toBe(ids.length)
    expect(failed).toBeLessThanOrEqual(CONCURRENCY)
    let counted = 0
    for (const id of ids) if ((await store.history.run(id))!.attempt > 1) counted++
    expect(counted + failed).toBeLessThanOrEqual(CONCURRENCY)
    const seen = new Map<string, number>()
    for (const { id } of fleet.effects()) seen.set(id, (seen.get(id) ?? 0) + 1)
    const repeated = [...seen.values()].filter((times) => times > 1).length
    expect(repeated + failed).toBeLessThanOrEqual(CONCURRENCY)
    const isOnce = async (id: string) => (await store.history.run(id))!.job === 'once'
    console.log(
      `kill -9: ${leased.length} runs held, ${failed} abandoned, ${repeated} repeated, ${counted} counted twice, concurrency ${CONCURRENCY}`,
    )
    for (const [id, times] of seen) if (times > 1) expect(await isOnce(id)).toBe(false)
    await app.stop()
  })
})

describe.each(Object.entries(STORES))('a job on %s that kills its worker', (_, openStore) => {
  it('runs out of attempts, though its worker claimed it ahead of its turn', async () => {
    opened = await openStore()
    const { store, url } = opened
    fleet = createFleet(() => url, { lease: '1s' })
    const app = everytick({ store, jobs: [reportPresence, poison], logger: silent })
    await app.enqueueMany(
      reportPresence,
      Array.from({ length: 3 * CONCURRENCY }, () => ({})),
    )
    const { id } = await app.enqueue(poison)
    await app.enqueueMany(
      reportPresence,
      Array.from({ length: 3 * CONCURRENCY }, () => ({})),
    )
    let deaths = 0
    const failed = await until('the job has failed', async () => {
      if (fleet!.nodes.length === 0) {
        fleet!.start('both').gone.then(() => deaths++)
      }
      const run = await store.history.run(id)
      return run?.state === 'failed' ? run : null
    })
    expect(failed).toMatchObject({ attempt: 2, error: { code: 'LEASE_LOST' } })
    // The first two deaths may go uncounted, because the store had not heard of the beginning yet.
    expect(deaths).toBeLessThanOrEqual(4)
    await app.stop()
  })
})

const silent = { debug() {}, info() {}, warn() {}, error() {} }
