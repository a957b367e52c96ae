/** HTTP handlers of queues, workers, jobs and locks. */
import { isAlive } from '../../store/contract/workers.ts'
import * as contract from '../contract/fleet.ts'
import { defined } from '../defined.ts'
import type { Parts } from '../parts.ts'
import { notFound } from '../problem.ts'
import { ok, type Route, route } from '../route.ts'

export function fleetRoutes({ app, core, jobs }: Parts): readonly Route[] {
  const queueOf = async (name: string) => (await app.queues.list()).find((queue) => queue.name === name) ?? null
  const changed = (name: string, before: unknown, after: unknown) => ({
    ...{ workspace: '', target: `queue ${name}`, before, after },
  })

  return [
    route(contract.listQueues, async () => ok({ data: await app.queues.list() })),
    route(contract.pauseQueue, async ({ params: { name }, body, principal }) => {
      const before = await queueOf(name)
      await app.queues.pause(name, { ...defined(body), by: principal.name })
      const after = await queueOf(name)
      return { status: 200, body: after, change: changed(name, before, after) }
    }),
    route(contract.resumeQueue, async ({ params: { name } }) => {
      const before = await queueOf(name)
      const resumed = await app.queues.resume(name)
      const change = resumed ? changed(name, before, await queueOf(name)) : 'none'
      return { status: 200, body: { resumed }, change }
    }),
    route(contract.limitQueue, async ({ params: { name }, body }) => {
      const before = await queueOf(name)
      await app.queues.limit(name, defined(body))
      const after = await queueOf(name)
      return { status: 200, body: after, change: changed(name, before, after) }
    }),
    route(contract.listWorkers, async () => {
      const store = await core.store()
      const [rows, now] = await Promise.all([store.workers.list(), store.now()])
      const data = rows.map(({ startedAt, seenAt, ...row }) => ({
        ...row,
        startedAt: new Date(startedAt),
        seenAt: new Date(seenAt),
        alive: isAlive({ seenAt }, now),
      }))
      return ok({ data })
    }),
    route(contract.drainWorker, async ({ params: { id } }) => {
      if (!(await (await core.store()).workers.drain(id))) throw notFound(`worker ${id}`)
      const change = { workspace: '', target: `worker ${id}`, after: { draining: true } }
      return { status: 202, body: { id, draining: true }, change }
    }),
    route(contract.listJobs, async () => ok({ data: jobs.list() })),
    route(contract.listLocks, async () => ok({ data: await app.locks.list() })),
    route(contract.releaseLock, async ({ params: { name }, body }) => {
      const lock = await app.locks.release(name, defined(body))
      return { status: 200, body: lock, change: { workspace: '', target: `lock ${name}`, before: lock } }
    }),
  ]
}
