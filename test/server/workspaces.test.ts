/** Nobody bound to one workspace sees or touches another's: every route is asked for things of workspace `a` by those of `b`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { everytick } from '../../src/index.ts'
import { createServer } from '../../src/server/app.ts'
import { CASES } from './cases.ts'
import { openStage, STORES, type Stage } from './stage.ts'

const OPERATIONS = createServer(everytick({ store: 'sqlite::memory:', jobs: [] }), {
  backgroundTasks: false,
}).routes.map(({ operation }) => operation)
/** Those that answer the same to everybody, whatever anybody has. */
const COMMON = [
  'healthz',
  'readyz',
  'openApi',
  'signIn',
  'signOut',
  'whoAmI',
  'explainTiming',
  'simulateSchedule',
  'listJobs',
  'followEvents',
]

describe.each(STORES)('on %s', (store) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage(store)
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  const asked = OPERATIONS.filter(({ id }) => !COMMON.includes(id))
  it.each(asked.map((operation) => [operation.id, operation] as const))(
    '%s tells b nothing of a',
    async (id, operation) => {
      const { happy } = await CASES[id]!(stage)
      const marks = JSON.stringify(
        (await stage.ask('GET', '/schedules?workspace=a&limit=200')).body.data.map(
          ({ id: each }: { id: string }) => each,
        ),
      )
      const answer = await stage.ask(operation.method.toUpperCase(), happy.path, { ...happy, as: 'b-admin' })
      const text = JSON.stringify(answer.body)
      if (answer.status < 300) {
        // Answered: then with what b has, or with something new that is b's own.
        expect(text).not.toContain('"workspace":"a"')
        for (const mark of JSON.parse(marks)) expect(text).not.toContain(mark)
      } else expect([403, 404]).toContain(answer.status)
    },
  )

  it('puts what b makes into b, whatever it calls itself', async () => {
    const made = await stage.ask('POST', '/schedules', {
      as: 'b-operate',
      body: { key: 'mine', every: '1h', job: 'plain' },
    })
    expect(made.body.workspace).toBe('b')
    const refused = await stage.ask('POST', '/schedules', {
      as: 'b-operate',
      body: { key: 'theirs', workspace: 'a', every: '1h', job: 'plain' },
    })
    expect([refused.status, refused.body.code]).toEqual([403, 'FORBIDDEN'])
    const put = await stage.ask('PUT', '/schedules/by-key/a/theirs', {
      as: 'b-operate',
      body: { every: '1h', job: 'plain' },
    })
    expect(put.status).toBe(404)
    expect((await stage.ask('GET', '/schedules/by-key/a/theirs')).status).toBe(404)
  })

  it('does bulk work of b to what is b’s only', async () => {
    await stage.ask('POST', '/schedules', { as: 'a-operate', body: { key: 'bulk', every: '1h', job: 'plain' } })
    await stage.ask('POST', '/schedules', { as: 'b-operate', body: { key: 'bulk', every: '1h', job: 'plain' } })
    const { server } = await stage.another()
    const body = { action: 'schedules.pause', filter: { text: 'bulk' } }
    const { body: operation } = await stage.ask('POST', '/operations', { as: 'b-operate', body })
    await expect
      .poll(async () => (await stage.ask('GET', `/operations/${operation.id}`)).body.state, { timeout: 20_000 })
      .toBe('done')
    expect((await stage.ask('GET', '/schedules/by-key/b/bulk')).body.paused).not.toBeNull()
    expect((await stage.ask('GET', '/schedules/by-key/a/bulk')).body.paused).toBeNull()
    expect((await stage.ask('GET', `/operations/${operation.id}`, { as: 'a-read' })).status).toBe(404)
    await server.end()
  })
})
