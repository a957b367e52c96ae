/** The list of processes that are alive: what each last said of itself, since when, and when it was last heard of. */
import { expect } from 'vitest'
import type { WorkerInfo } from '../../store/contract/workers.ts'
import type { Group } from './harness.ts'
import { HOUR } from './samples.ts'

const worker = (id: string, change: Partial<WorkerInfo> = {}): WorkerInfo => ({
  id,
  host: 'web-7f9',
  pid: 41,
  roles: ['scheduler', 'worker'],
  queues: { default: 10, mail: 2 },
  tzdata: '2026f',
  busy: 3,
  ...change,
})

export const workersGroup: Group = (promise) => {
  promise('lists a worker as it described itself', { kills: 'a worker is kept in part' }, async ({ store }) => {
    const now = await store.now()
    await store.workers.reportPresence(worker('w1'))
    const [row, ...more] = await store.workers.list()
    expect(row).toEqual({ ...worker('w1'), startedAt: row!.startedAt, seenAt: row!.startedAt, draining: false })
    expect(row!.startedAt).toBeGreaterThanOrEqual(now)
    expect(more).toEqual([])
  })

  promise(
    'keeps when it started, and renews the rest with each beat',
    { kills: 'a beat forgets when it started' },
    async ({ store, advance }) => {
      await store.workers.reportPresence(worker('w1'))
      const [first] = await store.workers.list()
      await advance(HOUR)
      await store.workers.reportPresence(worker('w1', { busy: 0, queues: {}, roles: ['worker'] }))
      const [row, ...more] = await store.workers.list()
      expect(row).toMatchObject({ startedAt: first!.startedAt, busy: 0, queues: {}, roles: ['worker'] })
      expect(row!.seenAt).toBeGreaterThanOrEqual(first!.seenAt + HOUR)
      expect(more).toEqual([])
    },
  )

  promise('drops a worker that leaves, and no other', { kills: 'leaving empties the list' }, async ({ store }) => {
    for (const id of ['w1', 'w2', 'w3']) await store.workers.reportPresence(worker(id))
    await store.workers.leave('w2')
    await store.workers.leave('w2')
    expect((await store.workers.list()).map(({ id }) => id).sort()).toEqual(['w1', 'w3'])
  })

  promise(
    'tells a worker to drain with every beat from then on, and no other',
    { kills: 'a beat forgets that the worker drains' },
    async ({ store }) => {
      expect(await store.workers.reportPresence(worker('w1'))).toEqual({ draining: false })
      await store.workers.reportPresence(worker('w2'))
      for (let i = 0; i < 2; i += 1) expect(await store.workers.drain('w1')).toBe(true)
      for (let i = 0; i < 2; i += 1)
        expect(await store.workers.reportPresence(worker('w1'))).toEqual({ draining: true })
      expect(await store.workers.reportPresence(worker('w2'))).toEqual({ draining: false })
      const drained = (await store.workers.list()).map(({ id, draining }) => [id, draining])
      expect(drained.sort()).toEqual([
        ['w1', true],
        ['w2', false],
      ])
    },
  )

  promise(
    'cannot drain a worker that is not there, and forgets it with the worker',
    { kills: 'a worker that was never seen drains' },
    async ({ store }) => {
      expect(await store.workers.drain('w1')).toBe(false)
      expect(await store.workers.list()).toEqual([])
      await store.workers.reportPresence(worker('w1'))
      await store.workers.drain('w1')
      await store.workers.leave('w1')
      expect(await store.workers.reportPresence(worker('w1'))).toEqual({ draining: false })
    },
  )
}
