/** Drives every operation of the OpenAPI document on both stores: as it should be, and in every way that it can be refused. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { everytick } from '../../src/index.ts'
import { createServer } from '../../src/server/app.ts'
import { idempotencyId } from '../../src/server/idempotency.ts'
import type { Operation } from '../../src/server/operation.ts'
import { CASES, type Case } from './cases.ts'
import { type Answer, openStage, STORES, type Stage } from './stage.ts'

/** The table itself; the app behind it is never asked anything. */
const OPERATIONS: readonly Operation[] = createServer(everytick({ store: 'sqlite::memory:', jobs: [] }), {
  backgroundTasks: false,
}).routes.map(({ operation }) => operation)

const lesser = { operate: 'read', admin: 'operate' } as Record<string, string | undefined>
/** Streams never end by themselves: only their refusals can be asked for in one go. */
const STREAMS = ['followEvents']
/** Their case finds nothing to do, and so leaves no entry. */
const WITHOUT_EFFECT = ['resumeSchedule', 'resumeQueue']

describe('the table of operations', () => {
  it('has a case for every operation, and no case without one', () => {
    expect(Object.keys(CASES).toSorted()).toEqual(OPERATIONS.map(({ id }) => id).toSorted())
  })

  it('names each operation once, and says for each that changes something what the audit log calls it', () => {
    expect(new Set(OPERATIONS.map(({ id }) => id)).size).toBe(OPERATIONS.length)
    const silent = OPERATIONS.filter(({ method, action }) => method !== 'get' && !action).map(({ id }) => id)
    expect(silent.toSorted()).toEqual(
      ['explainTiming', 'previewSchedules', 'signIn', 'signOut', 'simulateSchedule'].filter((id) =>
        OPERATIONS.some((each) => each.id === id),
      ),
    )
  })

  it('says of each POST that changes something what a server does whose predecessor died in the middle of it', () => {
    const wrong = OPERATIONS.filter(({ method, action, recovery }) => (method === 'post' && !!action) !== !!recovery)
    expect(wrong.map(({ id }) => id)).toEqual([])
  })
})

describe.each(STORES)('on %s', (store) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage(store)
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  const send = ({ method }: Operation, given: Omit<Case, 'status'>): Promise<Answer> =>
    stage.ask(method.toUpperCase(), given.path, given)

  describe.each(OPERATIONS.map((operation) => [operation.id, operation] as const))('%s', (id, operation) => {
    it('answers as its document says', async () => {
      const { happy, conflict } = await CASES[id]!(stage)
      if (STREAMS.includes(id)) return
      const before = (await stage.ask('GET', '/audit?limit=1')).body.data[0]?.seq ?? 0
      const answer = await send(operation, happy)
      expect([answer.status, answer.body?.code]).toEqual([happy.status, undefined])
      fitsSchema(operation, answer)
      const after = (await stage.ask('GET', '/audit?limit=1')).body.data[0]
      if (operation.action && !WITHOUT_EFFECT.includes(id)) {
        expect(after).toMatchObject({ seq: before + 1, action: operation.action, actor: 'admin' })
      }
      if (!conflict) return
      const refused = await send(operation, conflict)
      expect([refused.status, refused.body.code]).toEqual([conflict.status, conflict.code])
      fitsProblem(refused)
    })

    it('is refused to those who may not', async () => {
      const { happy } = await CASES[id]!(stage)
      if (operation.scope === 'none') return
      const expected: [as: string | null, status: number, code: string][] = [[null, 401, 'UNAUTHENTICATED']]
      const less = lesser[operation.scope]
      if (less) expected.push([less, 403, 'FORBIDDEN'])
      if (operation.reach === 'fleet') expected.push(['a-admin', 403, 'FORBIDDEN'])
      for (const [as, status, code] of expected) {
        const answer = await send(operation, { ...happy, as })
        expect([answer.status, answer.body.code]).toEqual([status, code])
        fitsProblem(answer)
      }
    })

    it('refuses what it does not know', async () => {
      const { happy } = await CASES[id]!(stage)
      const more = happy.path.includes('?') ? '&' : '?'
      const strange = await send(operation, { ...happy, path: `${happy.path}${more}nobody_knows=1` })
      expect([strange.status, strange.body.code]).toEqual([422, 'REQUEST_INVALID'])
      if (operation.body) {
        const odd = await send(operation, { ...happy, body: { ...(happy.body as object), nobodyKnows: 1 } })
        expect([odd.status, odd.body.code]).toEqual([422, 'REQUEST_INVALID'])
        fitsProblem(odd)
        const list = await send(operation, { ...happy, body: [1] })
        expect(list.status).toBe(422)
      }
    })

    const answersTag = Object.values(operation.answers).some(({ headers }) => headers?.includes('ETag'))
    if (answersTag || operation.refusals?.includes('PRECONDITION_FAILED'))
      it('is refused with If-Match of another version, and advertises that', async () => {
        expect(operation.refusals).toContain('PRECONDITION_FAILED')
        const { happy } = await CASES[id]!(stage)
        const before = (await stage.ask('GET', '/audit?limit=1')).body.data[0]?.seq
        for (const match of ['"987654321"', '"x"', '987654321', '"1', 'W/"0", "987654321"']) {
          const refused = await send(operation, { ...happy, headers: { ...happy.headers, 'if-match': match } })
          expect([match, refused.status, refused.body.code]).toEqual([match, 412, 'PRECONDITION_FAILED'])
          fitsProblem(refused)
        }
        expect((await stage.ask('GET', '/audit?limit=1')).body.data[0]?.seq).toBe(before)
      })

    if (operation.recovery)
      it('is done once, or refused, when its server died after it and before the answer', async () => {
        const { happy } = await CASES[id]!(stage)
        const given = { ...happy, headers: { ...happy.headers, 'idempotency-key': `died-${id}` } }
        const first = await send(operation, given)
        expect(first.status).toBe(happy.status)
        await forgetAnswer(stage, `died-${id}`)
        const before = (await stage.ask('GET', '/audit?limit=1')).body.data[0].seq
        const again = await send(operation, given)
        if (operation.recovery !== 'repeat')
          return expect([again.status, again.body.code]).toEqual([409, 'IDEMPOTENCY_OUTCOME_UNKNOWN'])
        if (id === 'completeRun') return expect(again.body.code).toBe('IDEMPOTENCY_OUTCOME_UNKNOWN')
        fitsSchema(operation, again)
        expect(again.body.id).toBe(first.body.id)
        // The first may have died before it was on record.
        expect((await stage.ask('GET', '/audit?limit=1')).body.data[0].seq).toBe(before + 1)
      })

    if (!operation.path.includes('{id}')) return
    it('says so when there is nothing of that id', async () => {
      const { happy } = await CASES[id]!(stage)
      const path = happy.path.split('/')
      const at = operation.path.split('/').indexOf('{id}')
      path[at] = `${randomUUID()}${path[at]!.includes('?') ? `?${path[at]!.split('?')[1]}` : ''}`
      const answer = await send(operation, { ...happy, path: path.join('/') })
      expect([answer.status, answer.body.code]).toEqual([404, 'NOT_FOUND'])
      fitsProblem(answer)
    })
  })

  it('has a document that names every operation, and whose references lead somewhere', async () => {
    const { body } = await stage.ask('GET', '/openapi.json')
    const ids = Object.values(body.paths as Record<string, Record<string, { operationId: string }>>).flatMap(
      (methods) => Object.values(methods).map(({ operationId }) => operationId),
    )
    expect(ids.toSorted()).toEqual(OPERATIONS.map(({ id }) => id).toSorted())
    for (const [, name] of JSON.stringify(body).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g))
      expect(body.components.schemas).toHaveProperty(name!)
    expect(JSON.stringify(body)).not.toContain('#/$defs')
  })

  it('shows the document as a page that loads nothing', async () => {
    const page = await stage.ask('GET', '/api/docs', { as: 'read' })
    expect(page.status).toBe(200)
    for (const { id } of OPERATIONS) expect(page.body).toContain(`id="${id}"`)
    expect(page.body).not.toMatch(/<script|src=|<link/)
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  })
})

/** As a server leaves the key that dies before it keeps the answer; only the wait for the end of its lease is left out. */
async function forgetAnswer({ server, tokens }: Stage, key: string): Promise<void> {
  const { keys, core } = server.parts
  const { documents } = await core.store()
  const found = await documents.get('request', idempotencyId((await keys.check(tokens.admin!))!.id, key))
  const { version: from, kind, id, workspace, data } = found!
  const left = { ...(data as object), answer: null }
  await documents.put({ kind, id, workspace, state: 'interrupted', from, data: left, forMs: 60_000 })
}

function fitsSchema({ answers, id }: Operation, { status, body }: Answer): void {
  const spec = answers[status]
  expect(spec, `${id} answers ${status}, which its document does not name`).toBeDefined()
  if (!spec?.schema) return
  const result = (spec.schema as z.ZodType).safeParse(body)
  expect(result.error?.issues ?? []).toEqual([])
}

function fitsProblem({ status, body, headers }: Answer): void {
  expect(headers.get('content-type')).toContain('application/problem+json')
  expect(body).toMatchObject({
    type: `/docs/errors/${body.code}`,
    title: expect.any(String),
    status,
    detail: expect.any(String),
    requestId: headers.get('x-request-id'),
  })
}
