/** How runs are executed, as it is written over HTTP: timeouts and `none`, and what a server without the code of a job knows of it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { defineJob, everytick } from '../../src/index.ts'
import { handler } from '../../src/server/handler.ts'
import { openStage } from './stage.ts'

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

it('answers the timeout of a schedule and of a run as it is written, and warns only of none', async () => {
  await using stage = await openStage('sqlite')
  const { ask } = stage
  const made = (timeout?: string) =>
    ask('POST', '/schedules', {
      body: { key: `k-${timeout}`, every: '1h', job: 'plain', ...(timeout ? { timeout } : {}) },
    })
  const codes = (warnings: { code: string }[] = []): string[] => warnings.map(({ code }) => code)
  const [usual, own, none] = [await made(), await made('90s'), await made('none')]
  expect([usual, own, none].map(({ body }) => body.timeout)).toEqual(['1h', '1m30s', 'none'])
  expect([usual, own, none].map(({ body }) => codes(body.warnings).includes('NO_TIMEOUT'))).toEqual([
    false,
    false,
    true,
  ])
  const back = await ask('PATCH', `/schedules/${none.body.id}`, { body: { timeout: null } })
  expect(back.body).toMatchObject({ timeout: '1h' })
  const run = await ask('POST', '/runs', { body: { job: 'plain', timeout: 'none' } })
  expect((await ask('GET', `/runs/${run.body.id}`)).body.timeout).toBe('none')
  const refused = await ask('POST', '/runs', { body: { job: 'plain', timeout: 'never' } })
  expect([refused.status, refused.body.detail]).toEqual([422, expect.stringContaining('timeout')])
})

it('makes runs of a job of another process as that process would, once it has started', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'everytick-work-'))
  const store = `sqlite:${join(folder, 'everytick.db')}`
  const long = defineJob({
    ...{ name: 'long', queue: 'reports', priority: 7, timeout: '8h', concurrencyKey: 'one' },
    retry: { attempts: 5, backoff: 'fixed', base: '10s' },
    run: () => {},
  })
  const once = defineJob({ name: 'once', timeout: 'none', delivery: 'at_most_once', run: () => {} })
  const worker = everytick({ store, jobs: [long, once], logger: quiet })
  await worker.start({ role: 'worker' })
  await worker.stop()

  await using server = everytick({ store, jobs: [], foreignJobs: true, logger: quiet })
  const ask = handler(server, { backgroundTasks: false, authorize: () => 'admin' })
  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    return (await (await ask(new Request(`http://localhost/api/v1${path}`, init))).json()) as Record<string, unknown>
  }
  expect(await post('/schedules', { key: 'nightly', every: '24h', job: 'long' })).toMatchObject({
    ...{ queue: 'reports', priority: 7, timeout: '8h', concurrencyKey: 'one' },
    retry: { attempts: 5, backoff: 'fixed', base: '10s' },
  })
  const { id } = await post('/runs', { job: 'once' })
  expect(await server.runs.get(id as string)).toMatchObject({
    timeout: 'none',
    delivery: 'at_most_once',
    maxAttempts: 1,
  })
  const unknown = await post('/runs', { job: 'of-nobody' })
  expect(await server.runs.get(unknown.id as string)).toMatchObject({ queue: 'default', timeout: '1h' })
  rmSync(folder, { recursive: true, force: true })
})
