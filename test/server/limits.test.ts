/** What one key and one workspace can hold of a server at once, and that another workspace still gets its share. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, openStage, STORES, type Stage } from './stage.ts'

const refusal = ({ status, body, headers }: Answer) => [
  status,
  body.code,
  body.detail?.split(':')[0],
  Number(headers.get('retry-after')) > 0,
]
const OF_KEY = [429, 'CONCURRENCY_LIMITED', 'limit of the key', true]
const OF_WORKSPACE = [429, 'CONCURRENCY_LIMITED', 'limit of the workspace', true]

describe.each(STORES)('one workspace on %s', (store) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage(store)
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  const newKey = async (workspace: string): Promise<string> =>
    (await stage.server.parts.keys.create({ name: 'x', scope: 'operate', workspace, by: 'test', forMs: null })).token

  it('has ten bulk operations running, and the next workspace begins its own', async () => {
    const order = (as: string) =>
      stage.ask('POST', '/operations', { as, body: { action: 'runs.cancel', filter: { queue: 'none' } } })
    const another = await newKey('a')
    for (let i = 0; i < 10; i++) expect((await order(i % 2 ? 'a-operate' : another)).status).toBe(202)
    for (const as of ['a-operate', another]) expect(refusal(await order(as))).toEqual(OF_WORKSPACE)
    for (const as of ['b-operate', 'operate']) expect((await order(as)).status).toBe(202)
  })

  it('is refused more when many requests begin bulk operations at the same moment', async () => {
    const body = { action: 'runs.cancel', filter: { queue: 'none' } }
    const as = await newKey('crowd')
    await Promise.all(Array.from({ length: 60 }, () => stage.ask('POST', '/operations', { as, body })))
    const { data } = (await stage.ask('GET', '/operations?state=running&limit=200', { as })).body
    expect(data.length).toBeGreaterThan(0)
    expect(data.length).toBeLessThanOrEqual(14)
  })

  it('has twenty backfills running, may always preview one, and the next workspace begins its own', async () => {
    const scheduleOf = async (as: string): Promise<string> =>
      (await stage.ask('POST', '/schedules', { as, body: { key: 'filled', every: '1h', job: 'plain' } })).body.id
    const [a, b] = [await scheduleOf('a-operate'), await scheduleOf('b-operate')]
    const fill = (id: string, as: string, dryRun = false) =>
      stage.ask('POST', `/schedules/${id}/backfills`, {
        as,
        body: { from: '2026-01-01T00:00:00Z', to: '2026-01-01T03:00:00Z', dryRun },
      })
    for (let i = 0; i < 20; i++) expect((await fill(a, 'a-operate')).status).toBe(202)
    expect(refusal(await fill(a, 'a-operate'))).toEqual(OF_WORKSPACE)
    expect((await fill(a, 'a-operate', true)).status).toBe(200)
    expect((await fill(b, 'b-operate')).status).toBe(202)
  })

  it.each([
    ['audits', '/ledger?schedule=filled'],
    ['scans', '/forecast?bucket=1h&from=2027-01-01T00:00:00Z&to=2027-01-02T00:00:00Z'],
    ['searches', '/schedules/{id}/next?n=1000'],
  ])('cannot take all places of %s with many requests of one key', async (what, template) => {
    const { body } = await stage.ask('POST', '/schedules', {
      as: 'a-operate',
      body: { key: what, every: '1h', job: 'plain' },
    })
    const path = template.replace('{id}', body.id)
    const flood = Array.from({ length: 40 }, () => stage.ask('GET', path, { as: 'a-read' }))
    const victim = stage.ask('GET', '/ledger', { as: 'b-read' })
    const answers = await Promise.all(flood)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]))
    for (const refused of answers.filter(({ status }) => status === 429)) expect(refusal(refused)).toEqual(OF_KEY)
    expect((await victim).status).toBe(200)
    // All places have come back.
    expect((await stage.ask('GET', path, { as: 'a-read' })).status).toBe(200)
  })
})
