/** How long the run of a killed worker waits with the product's own lease. */
import { afterEach, describe, expect, it } from 'vitest'
import { defineJob, everytick } from '../../src/index.ts'
import { createFleet, type Fleet, until } from './fleet.ts'
import { type ChaosStore, STORES } from './stores.ts'

const hold = defineJob({ name: 'hold', retry: { attempts: 5, backoff: 'fixed', base: '50ms' }, run: () => {} })

let fleet: Fleet | undefined
let opened: ChaosStore | undefined
afterEach(async () => {
  await fleet?.killAll()
  await opened?.close()
})

describe.each(Object.entries(STORES))('a worker on %s with the default lease', (_, openStore) => {
  it('leaves its runs to others within ten seconds of kill -9, and the reaper sees it', async () => {
    opened = await openStore()
    const { store, url } = opened
    fleet = createFleet(() => url, { lease: null })
    fleet.block(true)
    const killed = fleet.start('worker')
    await killed.ready
    const { id } = await everytick({ store, jobs: [hold] }).enqueue(hold)
    await until('the worker is at work', async () => fleet!.effects().length === 1)
    // The time that a process takes to start is no part of the recovery.
    const other = fleet.start('worker')
    await other.ready
    const first = (await store.history.run(id))!
    await until('the lease was renewed', async () => (await store.history.run(id))!.leaseUntil! > first.leaseUntil!)

    killed.process.kill('SIGKILL')
    await killed.gone
    const killedAt = await store.now()
    const { leaseUntil } = (await store.history.run(id))!
    await until('another worker is at work', async () => fleet!.effects().some(({ pid }) => pid === other.process.pid))
    const waitedMs = (await store.now()) - killedAt
    console.log(`kill -9: at work elsewhere after ${waitedMs} ms, ${leaseUntil! - killedAt} ms of them for the lease`)
    expect(waitedMs).toBeLessThan(10_000)
    fleet.block(false)
  })
})
