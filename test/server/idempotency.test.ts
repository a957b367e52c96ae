/** A request that is repeated is not done twice, whichever server it reaches. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { askOf, openStage, STORES, type Stage } from './stage.ts'

describe.each(STORES)('an Idempotency-Key on %s', (store) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage(store)
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  const body = { job: 'plain', delay: '1h' }
  const enqueue = (key: string, given: object = body, as = 'operate') =>
    stage.ask('POST', '/runs', { body: given, headers: { 'idempotency-key': key }, as })
  const runs = async (): Promise<number> => (await stage.ask('GET', '/runs?status=pending&limit=200')).body.data.length

  it('gives the first answer again, on every node, and makes one run', async () => {
    const first = await enqueue('k1')
    const { server } = await stage.another({ backgroundTasks: false })
    const before = await runs()
    const again = await askOf(server, stage.tokens)('POST', '/runs', {
      body,
      headers: { 'idempotency-key': 'k1' },
      as: 'operate',
    })
    expect([again.status, again.body]).toEqual([first.status, first.body])
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(again.headers.get('location')).toBe(first.headers.get('location'))
    expect(await runs()).toBe(before)
  })

  it('is refused for another body or path', async () => {
    await enqueue('k2')
    const other = await enqueue('k2', { ...body, delay: '2h' })
    expect([other.status, other.body.code]).toEqual([422, 'IDEMPOTENCY_CONFLICT'])
    const path = await stage.ask('POST', '/operations', {
      body: { action: 'runs.cancel', filter: { queue: 'none' } },
      headers: { 'idempotency-key': 'k2' },
      as: 'operate',
    })
    expect(path.body.code).toBe('IDEMPOTENCY_CONFLICT')
  })

  it('belongs to the caller: another may use the same', async () => {
    const mine = await enqueue('k3')
    const theirs = await enqueue('k3', body, 'admin')
    expect(theirs.status).toBe(201)
    expect(theirs.body.id).not.toBe(mine.body.id)
  })

  it('makes one of many that come at once, and tells the others to wait or the same', async () => {
    const before = await runs()
    const answers = await Promise.all(Array.from({ length: 8 }, () => enqueue('k4')))
    expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true)
    for (const { status, body: said } of answers) if (status === 409) expect(said.code).toBe('IDEMPOTENCY_IN_FLIGHT')
    expect(await runs()).toBe(before + 1)
  })

  it('is free again after a refusal', async () => {
    expect((await enqueue('k5', { job: 'nobody-has-it' })).status).toBe(422)
    expect((await enqueue('k5')).status).toBe(201)
  })

  it('answers while the first is on its way as the first does', async () => {
    const answers = await Promise.all([enqueue('k6'), enqueue('k6')])
    expect(answers.map(({ status }) => status)).toEqual([201, 201])
    expect(answers[0]!.body).toEqual(answers[1]!.body)
  })
})
