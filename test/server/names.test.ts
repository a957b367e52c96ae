/** New names hold no character that does not show, in code and over HTTP alike; names that were stored before are still found. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineJob, everytick, schedule } from '../../src/index.ts'
import { putNew } from '../../src/testing/conformance/samples.ts'
import { JOBS, openStage, STORES, type Stage } from './stage.ts'

const HIDDEN = [
  '\u202e',
  '\u2066',
  '\u200f',
  '\u200b',
  '\u00ad',
  '\u2028',
  '\u2029',
  '\ufeff',
  '\u{e0041}',
  '\ud800',
  '\0',
]
const bad = HIDDEN.map((character) => `pay${character}roll`)
const [BIDI] = bad
const run = () => {}

describe.each(STORES)('names on %s', (store) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage(store)
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  const NEW = { key: 'k', every: '1h', job: 'plain' }
  it.each<[what: string, path: string, body: (name: string) => object, as?: string]>([
    ['the key of a schedule', '/schedules', (key) => ({ ...NEW, key })],
    ['a workspace', '/schedules', (workspace) => ({ ...NEW, workspace })],
    ['a job', '/schedules', (job) => ({ ...NEW, job })],
    ['a queue', '/schedules', (queue) => ({ ...NEW, queue })],
    ['a tag', '/schedules', (tag) => ({ ...NEW, tags: ['x', tag] })],
    ['the queue of a run', '/runs', (queue) => ({ job: 'plain', queue })],
    ['the workspace of a run', '/runs', (workspace) => ({ job: 'plain', workspace })],
    ['an API key', '/api-keys', (name) => ({ name, scope: 'read' })],
    ['the workspace of an API key', '/api-keys', (workspace) => ({ name: 'x', scope: 'read', workspace })],
    ['an alert rule', '/alert-rules', (name) => ({ kind: 'missed', name })],
    ['a channel', '/channels', (name) => ({ name, config: { kind: 'webhook', url: 'https://example.com' } })],
    ['a previewed schedule', '/preview', (key) => ({ schedules: [{ ...NEW, key }] })],
  ])('over HTTP: %s', async (_, path, body) => {
    const before = (await stage.ask('GET', '/audit?limit=1')).body.data[0]?.seq
    for (const name of bad) {
      const answer = await stage.ask('POST', path, { body: body(name) })
      expect([answer.status, JSON.stringify(name)]).toEqual([422, JSON.stringify(name)])
      expect(JSON.stringify(answer.body)).not.toContain(name)
    }
    expect((await stage.ask('GET', '/audit?limit=1')).body.data[0]?.seq).toBe(before)
  })

  it('over HTTP: a path that would make something', async () => {
    const name = encodeURIComponent(BIDI!)
    const put = { every: '1h', job: 'plain' }
    const asked = [
      ['PUT', `/schedules/by-key/default/${name}`, put],
      ['PUT', `/schedules/by-key/${name}/k`, put],
      ['POST', `/queues/${name}/pause`, {}],
      ['PUT', `/queues/${name}/limits`, { globalConcurrency: 1 }],
    ] as const
    for (const [method, path, body] of asked)
      expect([path, (await stage.ask(method, path, { body })).status]).toEqual([path, 422])
  })

  it('in code: every place where a name is written', async () => {
    const { app } = stage
    const [plain] = [defineJob({ name: 'plain', run })]
    for (const name of bad) {
      const refusals: (() => unknown)[] = [
        () => defineJob({ name, run }),
        () => defineJob({ name: 'x', queue: name, run }),
        () => schedule({ key: name, every: '1h', job: plain }),
        () => schedule({ key: 'k', workspace: name, every: '1h', job: plain }),
        () => schedule({ key: 'k', queue: name, every: '1h', job: plain }),
        () => schedule({ key: 'k', tags: [name], every: '1h', job: plain }),
        () => everytick({ store: 'sqlite::memory:', jobs: [], name }),
        () => everytick({ store: 'sqlite::memory:', jobs: [], queues: { [name]: 1 } }),
        () => app.enqueue(JOBS[0] as never, { workspace: name } as never),
        () => app.enqueue(JOBS[0] as never, { queue: name } as never),
        () => app.locks.run(name, { ttl: '10s' }, run as never),
        () => app.queues.pause(name),
        () => app.queues.limit(name, { globalConcurrency: 1 }),
        () => app.queues.pause('q', { by: name }),
        () => app.schedules.remove('default', 'k', { by: name }),
        () => stage.server.parts.keys.create({ name: 'x', scope: 'read', workspace: name, by: 'test', forMs: null }),
      ]
      for (const refused of refusals)
        await expect((async () => refused())(), `${JSON.stringify(name)}: ${refused}`).rejects.toMatchObject({
          code: 'OPTION_INVALID',
        })
    }
  })

  it('that were stored before are found, listed, paused and removed', async () => {
    const { core } = stage.server.parts
    await putNew(await core.store(), { key: BIDI!, job: 'plain' })
    const path = `/schedules/by-key/default/${encodeURIComponent(BIDI!)}`
    const found = await stage.ask('GET', path)
    expect([found.status, found.body.key]).toEqual([200, BIDI])
    expect(JSON.stringify((await stage.ask('GET', '/schedules')).body)).toContain(BIDI)
    expect((await stage.ask('POST', `/schedules/${found.body.id}/pause`, { body: {} })).status).toBe(200)
    expect(await stage.app.schedules.get('default', BIDI!)).toMatchObject({ key: BIDI })
    expect((await stage.ask('GET', `/runs?workspace=${encodeURIComponent(BIDI!)}`)).status).toBe(200)
    expect((await stage.ask('DELETE', `/schedules/${found.body.id}`)).status).toBe(204)
  })
})
