/** What a node of a fleet does that a test may kill: a server, its background tasks, and a worker where it is told so. */
import { defineJob, everytick } from '../../src/index.ts'
import { serve } from '../../src/server.ts'

/** As on the stage, which cannot be had outside a test. */
const JOBS = [defineJob({ name: 'plain', run: () => {} })]

export interface NodeOrder {
  readonly store: string
  readonly works: boolean
  readonly backgroundTasks: boolean
}

export async function run({ store, works, backgroundTasks }: NodeOrder): Promise<{ url: string }> {
  const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const app = everytick({ store, jobs: JOBS, logger })
  const { url } = await serve(app, { port: 0, backgroundTasks })
  if (works) await app.start({ role: 'worker' })
  return { url }
}
