/** A server without the code of a job keeps the secrets of its payloads all the same. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineJob, everytick } from '../../src/index.ts'
import { handler } from '../../src/server.ts'

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const charge = defineJob({
  name: 'charge',
  payload: z.object({ card: z.string(), amount: z.number() }),
  redact: ['card'],
  run: () => {},
})

it('hides the payload of a job until a process that has it says what is secret, and that part from then on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'everytick-secrets-'))
  const store = `sqlite:${join(folder, 'everytick.db')}`
  const body = JSON.stringify({ key: 'x', every: '1h', job: 'charge', payload: { card: '4111', amount: 2 } })
  const made = async (): Promise<Record<string, unknown>> => {
    await using server = everytick({ store, jobs: [], foreignJobs: true, logger: quiet })
    const ask = handler(server, { backgroundTasks: false, authorize: () => 'admin' })
    const headers = { 'content-type': 'application/json' }
    await ask(new Request('http://localhost/api/v1/schedules', { method: 'POST', headers, body }))
    const found = await ask(new Request('http://localhost/api/v1/schedules/by-key/default/x'))
    const audit = await (await ask(new Request('http://localhost/api/v1/audit'))).text()
    expect(audit).not.toContain('4111')
    return (await found.json()) as Record<string, unknown>
  }
  expect(await made()).not.toHaveProperty('payload')
  const worker = everytick({ store, jobs: [charge], logger: quiet })
  await worker.start({ role: 'worker' })
  await worker.stop()
  expect(await made()).toMatchObject({ payload: { card: '[redacted]', amount: 2 } })
  rmSync(folder, { recursive: true, force: true })
})
