/** Who may read the metrics over HTTP, and that they tell of the app they belong to. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defineJob, type Everytick, everytick } from '../../src/index.ts'
import { handler } from '../../src/server.ts'

const job = defineJob({ name: 'mail', run: () => {} })
const logger = { debug() {}, info() {}, warn() {}, error() {} }
let app: Everytick
beforeEach(() => {
  app = everytick({ store: 'sqlite::memory:', jobs: [job], logger })
})
afterEach(() => app.stop())

type Ask = ReturnType<typeof handler>

const get = (ask: Ask, path: string, key?: string): Promise<Response> =>
  ask(
    new Request(`http://localhost${path}`, {
      headers: { host: 'localhost', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
    }),
  )

async function keyOf(body: Record<string, unknown>): Promise<string> {
  const headers = { host: 'localhost', 'content-type': 'application/json' }
  const open = handler(app, { access: 'open' })
  const request = { method: 'POST', headers, body: JSON.stringify({ name: 'scraper', scope: 'read', ...body }) }
  const answer = await open(new Request('http://localhost/api/v1/api-keys', request))
  expect(answer.status).toBe(201)
  return ((await answer.json()) as { token: string }).token
}

describe('the metrics', () => {
  it('are refused to those without a key', async () => {
    expect((await get(handler(app), '/metrics')).status).toBe(401)
  })

  it('are text for Prometheus to those with any key, at both of their addresses', async () => {
    const key = await keyOf({})
    const ask = handler(app)
    for (const path of ['/metrics', '/api/v1/metrics']) {
      const answer = await get(ask, path, key)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(await answer.text()).toMatch(/^everytick_store_up 1$/m)
    }
  })

  it('are refused to a key that is bound to a workspace, since they tell of all', async () => {
    const key = await keyOf({ workspace: 'acme' })
    expect((await get(handler(app), '/metrics', key)).status).toBe(403)
  })

  it('are open where the server was told so, and nothing else is', async () => {
    const ask = handler(app, { publicMetrics: true })
    expect((await get(ask, '/metrics')).status).toBe(200)
    expect((await get(ask, '/api/v1/schedules')).status).toBe(401)
  })

  it('tell of the runs of their own app', async () => {
    const ask = handler(app, { publicMetrics: true })
    await app.start()
    const handle = await app.enqueue(job)
    await app.runs.wait(handle)
    expect(await (await get(ask, '/metrics')).text()).toMatch(
      /^everytick_runs_total\{job="mail",outcome="succeeded"\} 1$/m,
    )
  })
})
