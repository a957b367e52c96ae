/** Whether a job has a process: as long as a worker with it lives, through restarts and deployments, and not for ever. */
import { afterEach, expect, it } from 'vitest'
import { defineJob, everytick } from '../../src/index.ts'
import { publishJobs, refreshJobs } from '../../src/scheduler/published-jobs.ts'
import { createServer } from '../../src/server/app.ts'
import { createTestEverytick, type TestEverytick } from '../../src/testing/test-everytick.ts'
import { askOf } from './stage.ts'

const START = '2027-01-01T00:00:00Z'
const HOUR = 3_600_000
const mail = defineJob({ name: 'mail', run: () => {} })
const logger = { debug() {}, info() {}, warn() {}, error() {} }
const ends: (() => PromiseLike<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

async function staged(): Promise<{ t: TestEverytick; warnings: () => Promise<unknown> }> {
  const t = await createTestEverytick({ now: START, jobs: [mail] })
  ends.push(() => t[Symbol.asyncDispose]())
  // Its store is that of the worker, and it knows no job by itself.
  const server = createServer(everytick({ store: t.store, jobs: [], foreignJobs: true, logger }), {
    ...{ backgroundTasks: false, authorize: () => ({ scope: 'admin', name: 'test' }) as const },
  })
  const ask = askOf(server, {})
  const warnings = async (): Promise<unknown> => {
    const { status, body } = await ask('POST', '/runs', { body: { job: 'mail' } })
    expect([status, body.code]).toEqual([201, undefined])
    return body.warnings
  }
  return { t, warnings }
}

it('a job is not warned of while a worker that has it lives, however long', async () => {
  const { t, warnings } = await staged()
  for (let hours = 0; hours < 6; hours++) await t.advance('1h')
  expect(await warnings()).toBeUndefined()
})

it('a job is warned of when the last worker that had it has been gone for longer than a restart takes', async () => {
  const { t, warnings } = await staged()
  await t.app.stop()
  t.clock.moveBy(2 * HOUR - 1)
  expect(await warnings()).toBeUndefined()
  t.clock.moveBy(1)

  expect(await warnings()).toEqual([
    {
      ...{ code: 'NO_PROCESS_FOR_JOB', at: null },
      text: 'no live worker has the job "mail": the last sign of one was at 2027-01-01T00:00:00.000Z; its runs wait until one has it',
    },
  ])
  await publishJobs(t.store, [mail])
  expect(await warnings()).toBeUndefined()
})

it('a worker of an older build says that it lives, and leaves what a newer one has published', async () => {
  const { t } = await staged()
  await publishJobs(t.store, [defineJob({ name: 'mail', queue: 'post', run: () => {} })])
  t.clock.moveBy(HOUR)
  await refreshJobs(t.store, ['mail', 'unknown'])
  const found = await t.store.documents.get('job', 'mail')
  expect(found).toMatchObject({ updatedAt: Date.parse(START) + HOUR, data: { queue: 'post' } })
  // What is fresh is not written again.
  await refreshJobs(t.store, ['mail'])
  expect((await t.store.documents.get('job', 'mail'))!.version).toBe(found!.version)
  expect(await t.store.documents.get('job', 'unknown')).toBeNull()
})
