/** Executes bulk operations in this process, for a database that may have no server; the steps are the server's own. */
import type { StoreOption } from '../../open-store.ts'
import { coreOf } from '../../scheduler/core.ts'
import { everytick } from '../../scheduler.ts'
import { createServer } from '../../server/app.ts'
import { operating } from '../../server/operations/operating.ts'

export interface Worker {
  /** Executes one step of any pending operation. It is safe if a server executes the same step meanwhile. */
  carryOn(): Promise<void>
  close(): Promise<void>
}

export async function openWorker(store: StoreOption): Promise<Worker> {
  const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const app = everytick({ store, jobs: [], foreignJobs: true, migrate: false, logger: quiet })
  const { parts } = createServer(app, { backgroundTasks: false, authorize: () => ({ scope: 'admin', name: 'cli' }) })
  const task = operating(parts)
  return {
    carryOn: async () => void (await task.pass(await coreOf(app).store())),
    close: () => app.stop(),
  }
}
