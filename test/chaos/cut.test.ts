/** A worker whose network to Postgres fails: its handler is told when the lease ends, another worker goes on, and after the repair it works again. */
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { defineJob, everytick } from '../../src/index.ts'
import { type Fault, openFaultProxy } from './fault-proxy.ts'
import { createFleet, until } from './fleet.ts'
import { STORES } from './stores.ts'

const LEASE_MS = 5000
const CUT_MS = 20_000

const retry = { attempts: 100, backoff: 'fixed', base: '50ms', max: '200ms' } as const
const [hold, reportPresence] = ['hold', 'beat'].map((name) => defineJob({ name, retry, run: () => {} })) as [
  never,
  never,
]

async function cutAndHeal(fault: Fault): Promise<{ lateMs: number; workingMs: number }> {
  const opened = await STORES.Postgres()
  const proxy = await openFaultProxy(opened.url)
  let address = proxy.url
  const fleet = createFleet(() => address, { lease: `${LEASE_MS}ms` })
  try {
    fleet.block(true)
    const app = everytick({ store: opened.store, jobs: [hold, reportPresence] })
    const cut = fleet.start('worker')
    await cut.ready
    const { id } = await app.enqueue(hold)
    await until('the worker that will be cut off is at work', async () => fleet.effects().length === 1)
    address = opened.url
    const other = fleet.start('worker')
    await other.ready

    const cutAt = Date.now()
    let abortedAt = Number.POSITIVE_INFINITY
    cut.process.on('message', ({ kind }: { kind: string }) => {
      if (kind === 'aborted') abortedAt = Math.min(abortedAt, Date.now())
    })
    proxy.cut(fault)
    // The store's end of the lease, which the worker's own end never comes after.
    const leaseEndsAt = (await opened.store.history.run(id))!.leaseUntil!
    await until('the other worker is at work', async () =>
      fleet.effects().some((effect) => effect.id === id && effect.pid === other.process.pid),
    )
    await until('the handler was told to stop', async () => Number.isFinite(abortedAt))
    fleet.block(false)
    await until('the run has finished', async () => (await opened.store.history.run(id))?.state === 'succeeded')
    expect((await opened.store.history.run(id))!.result).toEqual({ fence: 2, pid: other.process.pid })
    other.process.kill('SIGKILL')
    await other.gone
    await delay(Math.max(0, cutAt + CUT_MS - Date.now()))

    const again = await app.enqueue(reportPresence)
    const healedAt = Date.now()
    proxy.heal()
    await until('the worker works again', async () =>
      fleet.effects().some((effect) => effect.id === again.id && effect.pid === cut.process.pid),
    )
    return { lateMs: abortedAt - leaseEndsAt, workingMs: Date.now() - healedAt }
  } finally {
    await fleet.killAll()
    await proxy.close()
    await opened.close()
  }
}

describe.concurrent('a worker whose network fails', () => {
  it.each<Fault>(['black hole', 'requests', 'answers', 'reset'])(
    'has its handler aborted when the lease ends, and claims again within one lease of the repair (%s)',
    { timeout: 180_000 },
    async (fault) => {
      const { lateMs, workingMs } = await cutAndHeal(fault)
      console.log(
        `${fault}: aborted ${lateMs} ms after the lease ended, at work ${workingMs} ms after the repair, lease ${LEASE_MS} ms`,
      )
      // Longer than this are the timeouts by which a watch over the lease would do without its timer.
      expect(lateMs).toBeLessThan(1000)
      expect(workingMs).toBeLessThan(LEASE_MS)
    },
  )
})
