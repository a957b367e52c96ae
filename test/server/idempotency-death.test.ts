/** A request whose server is killed before it answers: the next server says within 5 seconds what became of it. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { coreOf } from '../../src/scheduler/core.ts'
import { idempotencyId } from '../../src/server/idempotency.ts'
import { serve } from '../../src/server.ts'
import { startChild } from './child.ts'
import { type HeldTable, HOLD_INSERTS } from './held-inserts.ts'
import { SECRET } from './receiver.ts'
import { askOf, openStage, STORES, type Stage } from './stage.ts'

const PATIENT = { timeout: 15_000, interval: 25 }

describe.each(STORES)('an Idempotency-Key on %s', (store) => {
  let stage: Stage
  let keyId: string
  beforeAll(async () => {
    stage = await openStage(store, { allowPrivate: true })
    keyId = (await stage.server.parts.keys.check(stage.tokens.operate!))!.id
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  const documentOf = async (key: string, who = keyId) =>
    (await coreOf(stage.app).store()).documents.get('request', idempotencyId(who, key))
  const runs = async (queue: string) => (await stage.ask('GET', `/runs?queue=${queue}`)).body.data as { id: string }[]

  /** Sends the request to a server of its own process, and kills that in the middle of an insert into the table. */
  const killedAt = async (
    table: HeldTable,
    { body, key, began }: { body: object; key: string; began: () => Promise<unknown> },
  ): Promise<void> => {
    const address = coreOf(stage.app).settings.store as string
    const child = await startChild({ store: address, works: false, backgroundTasks: false })
    const release = await HOLD_INSERTS[store](address, table)
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${stage.tokens.operate}` }
    const answer = fetch(`${child.url}/api/v1/runs`, {
      ...{ method: 'POST', headers: { ...headers, 'idempotency-key': key }, body: JSON.stringify(body) },
    })
    const cut = expect(answer).rejects.toThrow()
    await expect.poll(began, PATIENT).toBeTruthy()
    await child.kill()
    await cut
    await release()
  }

  /** Over a socket, and given up after 5 seconds. */
  const askedWithin5s = async (body: object, key: string) => {
    const server = await serve((await stage.another({ backgroundTasks: false })).app, {
      port: 0,
      backgroundTasks: false,
    })
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${stage.tokens.operate}` }
    const response = await fetch(`${server.url}/api/v1/runs`, {
      ...{ method: 'POST', headers: { ...headers, 'idempotency-key': key }, body: JSON.stringify(body) },
      signal: AbortSignal.timeout(5000),
    })
    const answer = (await response.json()) as { id: string; created: boolean }
    await server.close()
    return { status: response.status, body: answer }
  }

  it('answers with the run that a killed server had made, and writes down who made it', async () => {
    const body = { job: 'plain', delay: '1h', queue: 'made' }
    await killedAt('audit_log', { body, key: 'after', began: async () => (await runs('made')).length })
    expect(await documentOf('after')).toMatchObject({ state: 'begun' })
    const [made] = await runs('made')
    expect(await askedWithin5s(body, 'after')).toMatchObject({ status: 200, body: { id: made!.id, created: false } })
    expect(await runs('made')).toHaveLength(1)
    const audit = (await stage.ask('GET', '/audit?limit=10')).body.data as { target: string; origin: object }[]
    expect(audit.find(({ target }) => target === `run ${made!.id}`)?.origin).toMatchObject({
      repeats: expect.stringMatching(/^req_/),
    })
    const again = await stage.ask('POST', '/runs', { body, headers: { 'idempotency-key': 'after' }, as: 'operate' })
    expect([again.body.id, again.headers.get('idempotency-replayed')]).toEqual([made!.id, 'true'])
  })

  it('makes the run once when the server was killed before it had made it', async () => {
    const body = { job: 'plain', delay: '1h', queue: 'unmade' }
    await killedAt('runs', { body, key: 'before', began: () => documentOf('before') })
    const answer = await askedWithin5s(body, 'before')
    // The database may have finished the insert that the killed server was waiting for.
    expect([200, 201]).toContain(answer.status)
    expect((await runs('unmade')).map(({ id }) => id)).toEqual([answer.body.id])
  })

  it('is not taken over while a server works on the request, however long that takes', async () => {
    let open: ServerResponse | undefined
    let calls = 0
    const endpoint = createServer((_, response) => {
      calls++
      open = response
    })
    await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/`
    const channel = await stage.ask('POST', '/channels', {
      body: { name: 'slow', config: { kind: 'webhook', url, secret: SECRET } },
    })
    expect(channel.body).toMatchObject({ id: expect.any(String) })
    const admin = (await stage.server.parts.keys.check(stage.tokens.admin!))!.id
    const { server } = await stage.another({ backgroundTasks: false, allowPrivate: true })
    const request = ['POST', `/channels/${channel.body.id}/test`, { headers: { 'idempotency-key': 'slow' } }] as const
    const other = askOf(server, stage.tokens)
    try {
      const first = stage.ask(...request)
      // One version a second: the lease of the first write is over by then.
      await expect.poll(async () => (await documentOf('slow', admin))?.version, PATIENT).toBeGreaterThan(4)
      const early = await other(...request)
      expect([early.status, early.body.code]).toEqual([409, 'IDEMPOTENCY_IN_FLIGHT'])
      expect(early.headers.get('retry-after')).toBe('1')
      open!.end()
      const { status, body } = await first
      expect([status, body.delivered]).toEqual([200, true])
      const late = await other(...request)
      expect([late.body, late.headers.get('idempotency-replayed')]).toEqual([body, 'true'])
      expect(calls).toBe(1)
    } finally {
      endpoint.close()
      endpoint.closeAllConnections()
    }
  })
})
