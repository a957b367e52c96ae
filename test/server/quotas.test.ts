/** Every operation whose row names a quota is refused by that quota, by name, when a bound key has used it up; other workspaces go on. */
import { describe, expect, it } from 'vitest'
import type { QuotaOptions } from '../../src/scheduler/read-quotas.ts'
import { OPERATION_RULES } from '../../src/server/operation-rules.ts'
import { QUOTA_NAMES, QUOTAS, type QuotaName } from '../../src/workspace/quotas.ts'
import { failedRun, leasedRun, type RunningRun } from './cases.ts'
import { type Answer, openStage, STORES, type Stage } from './stage.ts'

let count = 0
const fresh = (): string => `q-${++count}`
const long = (bytes: number) => ({ account: 'x'.repeat(bytes) })

/** Open streams belong to one server and are refused where they are opened. */
const STORED = QUOTA_NAMES.filter((name) => name !== 'streams')
const LIMITS: Readonly<Record<string, QuotaOptions>> = {
  schedules: { schedules: 4 },
  pendingRuns: { pendingRuns: 4 },
  queues: { queues: 4 },
  tags: { tags: 2 },
  channels: { channels: 2 },
  rules: { rules: 2 },
  smallestInterval: { smallestInterval: '1m' },
  payloadBytesPerDay: { payloadBytesPerDay: 2000 },
}

/** A workspace with one thing of each kind, and keys that are bound to it. */
interface Place {
  readonly workspace: string
  readonly schedule: string
  readonly failed: string
  readonly leased: RunningRun
  ask(method: string, path: string, body?: unknown): Promise<Answer>
}

async function openPlace(stage: Stage, workspace: string): Promise<Place> {
  const key = { name: workspace, scope: 'admin', workspace, by: 'test', forMs: null } as const
  const { token } = await stage.server.parts.keys.create(key)
  const ask: Place['ask'] = (method, path, body) =>
    stage.ask(method, path, { as: token, ...(body === undefined ? {} : { body }) })
  const body = { key: fresh(), every: '1h', job: 'typed', payload: { account: 'a' } }
  const { id: schedule } = (await ask('POST', '/schedules', body)).body
  const { id: failed } = await failedRun(stage, workspace)
  return { workspace, schedule, failed, leased: await leasedRun(stage, workspace), ask }
}

interface Wanted {
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

/** What a schedule has that draws on the quota, beside being new. */
const TOUCHES: Readonly<Partial<Record<QuotaName, () => object>>> = {
  queues: () => ({ queue: fresh() }),
  tags: () => ({ tags: [fresh()] }),
  smallestInterval: () => ({ every: '59s' }),
  payloadBytesPerDay: () => ({ payload: long(900) }),
}
const touch = (quota: QuotaName): object => TOUCHES[quota]?.() ?? {}
const schedule = (quota: QuotaName): object => ({
  ...{ every: '1h', job: 'typed', payload: { account: 'a' }, ...touch(quota) },
})
const payload = (quota: QuotaName): object => (quota === 'payloadBytesPerDay' ? { payload: long(900) } : {})

/** For every operation that draws on quotas: a request that draws on this one. */
const REQUESTS: Readonly<Record<string, (place: Place, quota: QuotaName) => Wanted>> = {
  createSchedule: (_, quota) => ({ method: 'POST', path: '/schedules', body: { key: fresh(), ...schedule(quota) } }),
  putSchedule: ({ workspace }, quota) => ({
    ...{ method: 'PUT', path: `/schedules/by-key/${workspace}/${fresh()}`, body: schedule(quota) },
  }),
  patchSchedule: (place, quota) => ({ method: 'PATCH', path: `/schedules/${place.schedule}`, body: touch(quota) }),
  triggerSchedule: (place, quota) => ({
    ...{ method: 'POST', path: `/schedules/${place.schedule}/trigger`, body: payload(quota) },
  }),
  createBackfill: (place, quota) => ({
    method: 'POST',
    path: `/schedules/${place.schedule}/backfills`,
    body: { from: '2026-01-01T00:00:00Z', to: '2026-01-01T03:00:00Z', ...payload(quota) },
  }),
  enqueueRun: (_, quota) => ({
    method: 'POST',
    path: '/runs',
    body: {
      ...{ job: 'typed', payload: { account: 'a' }, delay: '1h', ...payload(quota) },
      ...(quota === 'queues' ? { queue: fresh() } : {}),
    },
  }),
  retryRun: ({ failed }) => ({ method: 'POST', path: `/runs/${failed}/retry` }),
  completeRun: ({ leased }) => ({
    method: 'POST',
    path: `/runs/${leased.id}/complete`,
    body: { fence: leased.fence, outcome: 'succeeded', result: long(900) },
  }),
  createOperation: () => ({
    method: 'POST',
    path: '/operations',
    body: { action: 'runs.retry', filter: { all: true } },
  }),
  createAlertRule: () => ({ method: 'POST', path: '/alert-rules', body: { kind: 'missed' } }),
  createChannel: () => ({
    method: 'POST',
    path: '/channels',
    body: { name: fresh(), config: { kind: 'slack', url: 'https://hooks.example.com/x' } },
  }),
}

/** Which operation uses a quota up. */
const FILLS: Readonly<Record<string, string>> = {
  schedules: 'createSchedule',
  pendingRuns: 'enqueueRun',
  queues: 'enqueueRun',
  tags: 'createSchedule',
  channels: 'createChannel',
  rules: 'createAlertRule',
  smallestInterval: 'createSchedule',
  payloadBytesPerDay: 'enqueueRun',
}

const asked = ({ ask }: Place, { method, path, body }: Wanted): Promise<Answer> => ask(method, path, body)

async function useUp(place: Place, quota: QuotaName): Promise<Answer> {
  for (let tries = 0; tries < 20; tries++) {
    const answer = await asked(place, REQUESTS[FILLS[quota]!]!(place, quota))
    if (answer.status >= 400) return answer
  }
  throw new Error(`the quota ${quota} of ${place.workspace} lets everything through`)
}

const ROWS = Object.entries(OPERATION_RULES).flatMap(([id, { quotas }]) =>
  (quotas as readonly QuotaName[]).filter((quota) => quota !== 'streams').map((quota) => [id, quota] as const),
)

describe.each(STORES)('the quotas of a workspace on %s', (store) => {
  it('refuse by name every operation whose row names them, and no other workspace', async () => {
    const workspaces = Object.fromEntries(STORED.map((quota) => [`of-${quota}`, LIMITS[quota]!]))
    await using stage = await openStage(store, {}, { quotas: { workspaces } })
    for (const quota of STORED) {
      const [place, other] = [await openPlace(stage, `of-${quota}`), await openPlace(stage, `beside-${quota}`)]
      const filled = await useUp(place, quota)
      const isDaily = quota === 'payloadBytesPerDay'
      const refusal = { status: isDaily ? 429 : 409, code: isDaily ? 'QUOTA_SPENT' : 'QUOTA_REACHED' }
      expect([quota, filled.body]).toMatchObject([quota, refusal])
      for (const [id] of ROWS.filter(([, each]) => each === quota)) {
        const answer = await asked(place, REQUESTS[id]!(place, quota))
        const { code, detail, quota: named } = answer.body
        expect([id, quota, answer.status, code, named?.name]).toEqual([id, quota, refusal.status, refusal.code, quota])
        expect(detail).toContain(quota)
        expect(answer.body.hint).toContain(quota)
        const limit = LIMITS[quota]![quota]
        expect(named.limit).toBe(quota === 'smallestInterval' ? 60_000 : limit)
        expect(Number.isInteger(named.used)).toBe(true)
        const wait = answer.headers.get('retry-after')
        if (isDaily) expect(Number(wait)).toBeGreaterThan(0)
        else expect(wait).toBeNull()
        const beside = await asked(other, REQUESTS[id]!(other, quota))
        expect([id, quota, beside.status, beside.body.code]).toEqual([id, quota, expect.toSatisfy(isFine), undefined])
      }
    }
  }, 120_000)

  it('refuse one more open stream, of events or of a log, and give its place back when it ends', async () => {
    await using stage = await openStage(store, {}, { quotas: { workspaces: { a: { streams: 2 } } } })
    const body = { job: 'plain', delay: '1h' }
    const { id } = (await stage.ask('POST', '/runs', { as: 'a-operate', body })).body
    const send = (path: string, as: string, accept = 'text/event-stream'): Promise<Response> => {
      const headers = { authorization: `Bearer ${stage.tokens[as]}`, accept }
      return stage.server.fetch(new Request(`http://localhost/api/v1${path}`, { headers }))
    }
    const logs = `/runs/${id}/logs`
    const opened = [await send('/events', 'a-operate'), await send(logs, 'a-operate')]
    expect(opened.map(({ status }) => status)).toEqual([200, 200])
    for (const path of ['/events', logs]) {
      const refused = await send(path, 'a-operate')
      expect([path, refused.status, await refused.json()]).toMatchObject([
        path,
        409,
        { code: 'QUOTA_REACHED', quota: { name: 'streams', limit: 2, used: 2 } },
      ])
    }
    // What is read to its end takes no place, and other workspaces have theirs.
    expect((await send(logs, 'a-operate', 'application/x-ndjson')).status).toBe(200)
    opened.push(await send('/events', 'b-operate'), await send('/events', 'operate'))
    expect(opened.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    await opened[0]!.body!.cancel()
    opened.push(await send(logs, 'a-operate'))
    expect(opened.at(-1)!.status).toBe(200)
    for (const { body: stream } of opened.slice(1)) await stream!.cancel()
  })

  it('are shown with what is used of them', async () => {
    const quotas = { default: { tags: 'off' }, workspaces: { a: { schedules: 2, smallestInterval: '5s' } } } as const
    await using stage = await openStage(store, {}, { quotas })
    for (const key of ['x', 'y']) {
      const body = { key, every: '1h', job: 'typed', payload: { account: 'a' }, tags: ['t'], workspace: 'a' }
      expect((await stage.ask('POST', '/schedules', { body })).status).toBe(201)
    }
    const close = stage.server.parts.core.quotas.openStream('a')
    const own = await stage.ask('GET', '/quotas', { as: 'a-read' })
    close()
    const bytes = 2 * JSON.stringify({ account: 'a' }).length
    const row = (quota: QuotaName, used: number | null, limit: number | null = QUOTAS[quota].bound, to = 'keys') => ({
      ...{ quota, unit: QUOTAS[quota].unit, limit, used, appliesTo: to },
    })
    expect(own.body).toEqual({
      workspace: 'a',
      data: [
        row('schedules', 2, 2, 'all'),
        row('pendingRuns', 0),
        row('queues', 1),
        row('tags', 1, null, 'all'),
        row('channels', 0),
        row('rules', 0),
        row('streams', 1),
        row('smallestInterval', null, 5000, 'all'),
        // Fleet keys have no such quota here, and what they send is not counted.
        row('payloadBytesPerDay', 0),
      ],
    })
    const body = { key: 'z', every: '1h', job: 'plain' }
    expect((await stage.ask('POST', '/schedules', { body, as: 'a-operate' })).body).toMatchObject({
      ...{ code: 'QUOTA_REACHED', quota: { name: 'schedules', limit: 2, used: 2 } },
    })
    const sent = { job: 'typed', payload: { account: 'a' }, delay: '1h' }
    expect((await stage.ask('POST', '/runs', { body: sent, as: 'a-operate' })).status).toBe(201)
    const [all, others] = [await stage.ask('GET', '/quotas?workspace=a'), await stage.ask('GET', '/quotas')]
    const used = (answer: Answer) =>
      Object.fromEntries(answer.body.data.map((each: { quota: string; used: number }) => [each.quota, each.used]))
    expect(used(all)).toMatchObject({ schedules: 2, pendingRuns: 1, queues: 1, payloadBytesPerDay: bytes / 2 })
    expect(others.body.workspace).toBe('default')
    expect(used(others)).toMatchObject({ schedules: 0, pendingRuns: 0 })
    expect((await stage.ask('GET', '/quotas?workspace=b', { as: 'a-read' })).status).toBe(403)
  })

  it('hold for bound keys where no option sets them, and not for fleet keys', async () => {
    await using stage = await openStage(store)
    const body = { key: 'dense', every: '999ms', job: 'plain', workspace: 'a' }
    const refused = await stage.ask('POST', '/schedules', { body, as: 'a-operate' })
    expect(refused.body).toMatchObject({ status: 409, quota: { name: 'smallestInterval', limit: 1000, used: 999 } })
    expect((await stage.ask('POST', '/schedules', { body })).status).toBe(201)
    expect(
      (await stage.app.metrics()).match(/everytick_quota_refusals_total\{quota="smallestInterval"\} (\d+)/)?.[1],
    ).toBe('1')
  })

  it('hold for bulk operations of bound keys, run by run, and free a place when something goes', async () => {
    await using stage = await openStage(
      store,
      { backgroundTasks: true },
      { quotas: { workspaces: { a: { pendingRuns: 3 } } } },
    )
    for (let i = 0; i < 6; i++)
      await stage.ask('POST', '/schedules', {
        body: { key: `s${i}`, every: '1h', job: 'plain', queue: 'idle', workspace: 'a' },
      })
    const body = { action: 'schedules.trigger', filter: { all: true } }
    const { body: begun } = await stage.ask('POST', '/operations', { body, as: 'a-operate' })
    const ended = async () => (await stage.ask('GET', `/operations/${begun.id}`)).body
    await expect.poll(async () => (await ended()).state, { timeout: 20_000 }).toBe('done')
    const { done, failed, errors } = await ended()
    expect([done, failed]).toEqual([3, 3])
    expect(errors[0].message).toContain('quota pendingRuns')
    const { data } = (await stage.ask('GET', '/runs?workspace=a&status=pending')).body
    expect(data).toHaveLength(3)
    await stage.ask('POST', `/runs/${data[0].id}/cancel`)
    const run = { job: 'plain', queue: 'idle', delay: '1h' }
    const again = async () => (await stage.ask('POST', '/runs', { body: run, as: 'a-operate' })).status
    expect([await again(), await again()]).toEqual([201, 409])
  })

  it('let exactly as many through as fit when many ask at once', async () => {
    await using stage = await openStage(
      store,
      {},
      { quotas: { workspaces: { a: { pendingRuns: 25, schedules: 25 } } } },
    )
    const results = await Promise.all(
      Array.from({ length: 60 }, (_, i) => [
        stage.ask('POST', '/runs', { body: { job: 'plain', delay: '1h' }, as: 'a-operate' }),
        stage.ask('POST', '/schedules', { body: { key: `k${i}`, every: '1h', job: 'plain' }, as: 'a-operate' }),
      ]).flat(),
    )
    const made = results.filter(({ status }) => status === 201)
    expect(made).toHaveLength(50)
    expect(results.filter(({ body }) => body.code === 'QUOTA_REACHED')).toHaveLength(70)
    const { quotas } = await stage.server.parts.core.store()
    expect(await quotas.count('a', 'pendingRuns', { upTo: 100 })).toBe(25)
    expect(await quotas.count('a', 'schedules', { upTo: 100 })).toBe(25)
  })
})

const isFine = (status: number): boolean => status >= 200 && status < 300

describe('the table of this test', () => {
  it('has a request for every row that names a quota', () => {
    expect(ROWS.map(([id]) => id).filter((id) => !(id in REQUESTS))).toEqual([])
    expect(STORED.every((quota) => ROWS.some(([, each]) => each === quota))).toBe(true)
  })
})
