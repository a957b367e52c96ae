/** Secrets of HTTP targets, planted wherever one can be, are found nowhere that people look; whatever the endpoint does with them. */
import { expect, it } from 'vitest'
import { z } from 'zod'
import { everytick, http } from '../../src/index.ts'
import { coreOf } from '../../src/scheduler/core.ts'
import { createServer } from '../../src/server/app.ts'
import { endpoint, rawEndpoint } from './http-endpoint.ts'

const MARK = 'marker5f3a'
const retry = { attempts: 2, backoff: 'fixed', base: '1ms', max: '1ms' } as const
const common = { retry, allowPrivate: true, secrets: { NAMED: `${MARK}-named "and quoted"` } } as const

it('are in no log line, journal entry, error, result, metric, event, page or answer of the server', async () => {
  await using repeating = await endpoint((response, { headers, text, path }, nth) => {
    response.writeHead(nth % 3 === 0 ? 500 : 200, { 'x-request-id': String(headers.authorization), location: path })
    response.end(JSON.stringify({ headers, text, raw: headers['x-named'] }))
  })
  await using closing = await rawEndpoint((socket) => void socket.once('data', () => socket.destroy()))
  const headers = {
    authorization: `Bearer ${MARK}-token`,
    cookie: `a=${MARK}-cookie`,
    'x-named': { secret: 'NAMED' },
  } as const
  const secret = `${MARK}-signing-secret`
  const payload = z.object({ card: z.string(), amount: z.number() })
  const fixed = [repeating, closing].map(({ url }, i) =>
    http({ ...common, name: `fixed-${i}`, url, headers, secret, payload, redact: ['card'] }),
  )
  const generic = http({ ...common, redact: ['body.card'] })

  const lines: unknown[] = []
  const log = (...args: unknown[]): void => void lines.push(args)
  const logger = { debug: log, info: log, warn: log, error: log }
  await using app = everytick({ store: 'sqlite::memory:', jobs: [...fixed, generic], logger })
  const server = createServer(app, { authorize: () => 'admin' })
  await app.start()

  const ids: string[] = []
  for (const job of fixed) {
    const given = { card: `${MARK}-card`, amount: 3 }
    const { id } = await app.schedules.upsert({ key: job.name, cron: '0 0 1 1 *', job, payload: given })
    ids.push(id, (await app.runs.wait(await app.schedules.trigger('default', job.name))).id)
  }
  for (const { url } of [repeating, closing]) {
    const call = { url, headers, body: { card: `${MARK}-card` } }
    const { id } = await app.schedules.upsert({ key: url, cron: '0 0 1 1 *', job: generic, payload: call })
    ids.push(id, (await app.runs.wait(await app.schedules.trigger('default', url))).id)
  }
  // It was really sent.
  expect(repeating.heard[0]!.headers).toMatchObject({
    authorization: `Bearer ${MARK}-token`,
    'x-named': `${common.secrets.NAMED}`,
  })

  const seen: [string, string][] = [['log', JSON.stringify(lines)]]
  for (const { operation } of server.routes) {
    if (operation.method !== 'get' || /events|follow/.test(operation.path)) continue
    for (const id of operation.path.includes('{') ? ids : ['']) {
      const path = `/api/v1${operation.path.replace(/\{\w+\}/, id)}`
      if (path.includes('{')) continue
      const answer = await server.fetch(new Request(`http://localhost${path}`, { headers: { host: 'localhost' } }))
      seen.push([path, await answer.text()])
    }
  }
  for (const path of ['/', '/api/docs']) {
    const page = await server.fetch(new Request(`http://localhost${path}`, { headers: { host: 'localhost' } }))
    expect([path, page.status]).toEqual([path, 200])
    seen.push([path, await page.text()])
  }
  const store = await coreOf(app).store()
  const told = await store.feed.between({ afterAt: 0, untilAt: await store.now() }, { limit: 1000 })
  expect(told.filter(({ kind }) => kind === 'run').length).toBeGreaterThan(3)
  seen.push(['events', JSON.stringify(told)])
  for (const id of ids) seen.push([`journal ${id}`, JSON.stringify(await app.runs.journal(id))])
  expect(seen.length).toBeGreaterThan(30)
  const struckOut = seen.filter(
    ([where, text]) => /^\/api\/v1\/runs\/[^/]+$/.test(where) && text.includes('[redacted]'),
  )
  expect(struckOut.length).toBeGreaterThan(1)
  expect(
    seen.filter(([, text]) => text.includes('HTTP_500') || text.includes('HTTP_TRANSPORT')).length,
  ).toBeGreaterThan(0)
  expect(seen.filter(([, text]) => text.includes(MARK)).map(([where]) => where)).toEqual([])
})
