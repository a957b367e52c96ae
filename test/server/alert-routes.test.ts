/** Alerts, rules and channels over HTTP: what people see and may do, whose it is, and that no secret ever comes back. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defineJob, schedule } from '../../src/index.ts'
import { createAlerter } from '../../src/server/alerting/alerter.ts'
import { createNotifier } from '../../src/server/alerting/notifier.ts'
import { type AuthResult, handler } from '../../src/server.ts'
import { startedIn, type TestEverytick } from '../../src/testing/test-everytick.ts'
import { uuidGenerator } from '../../src/uuid.ts'
import { OPEN_PLACES, type OpenPlace } from '../facade/open-resources.ts'
import { type Receiver, receiver, SECRET } from './receiver.ts'

const START = Date.parse('2027-01-01T00:00:30Z')
const NOT_FIRED = 'default-schedule-not-fired'
const job = defineJob({ name: 'job', run: () => {} })
const WHO: Record<string, AuthResult> = {
  ana: { scope: 'admin', name: 'ana' },
  ola: { scope: 'operate', name: 'ola' },
  rea: { scope: 'read', name: 'rea' },
  acme: { scope: 'admin', name: 'acme', workspace: 'acme' },
}

/** As much of any answer as these tests look at by name. */
interface Body {
  readonly id: string
  readonly workspace: string | null
  readonly rule: string
  readonly state: string
  readonly isDefault: boolean
  readonly enabled: boolean
  readonly config: unknown
  readonly data: readonly Body[]
  readonly page: { readonly next: string; readonly hasMore: boolean }
}

interface Answer {
  readonly status: number
  readonly body: Body
}

let place: OpenPlace
let t: TestEverytick
let inbox: Receiver
let logged: unknown[][]
let answers: string[]
let ask: (who: string, call: string, body?: unknown) => Promise<Answer>

async function idle(ms: number): Promise<void> {
  const at = place.clock.now() + ms
  await place.moved?.(at)
  place.clock.moveTo(at)
}

/** One look at the facts. */
async function evaluateOnly(): Promise<void> {
  const { store, clock } = place
  const onError = (error: unknown) => {
    throw error
  }
  await createAlerter({ store, clock, node: 'node', newId: uuidGenerator(clock), onError }).pass()
}

/** The same, and all that follows from it. */
async function look(): Promise<void> {
  const { store, clock } = place
  await evaluateOnly()
  await createNotifier({ store, voice: { clock, logger: loggerOf(), allowPrivate: true } }).pass()
}

const loggerOf = () => {
  const note = (...line: unknown[]) => void logged.push(line)
  return { debug: note, info: note, warn: note, error: note }
}

describe.each(OPEN_PLACES)('on %s', (_, open) => {
  beforeEach(async () => {
    inbox = await receiver()
    logged = []
    answers = []
    place = await open(START)
    t = await startedIn(place, {
      jobs: [job],
      schedules: [
        schedule({ key: 'ours', every: '1m', job }),
        schedule({ key: 'theirs', workspace: 'acme', every: '1m', job }),
      ],
      logger: loggerOf(),
    })
    const handle = handler(t.app, {
      allowPrivate: true,
      backgroundTasks: false,
      authorize: (request) => WHO[request.headers.get('x-who') ?? ''] ?? 'none',
    })
    ask = async (who, call, body) => {
      const [method = '', path = ''] = call.split(' ')
      const headers = { 'x-who': who, 'content-type': 'application/json' }
      const sent = body === undefined ? {} : { body: JSON.stringify(body) }
      const response = await handle(new Request(`http://localhost/api/v1${path}`, { method, headers, ...sent }))
      const text = await response.text()
      answers.push(text)
      return { status: response.status, body: text === '' ? null : JSON.parse(text) }
    }
  })
  afterEach(async () => {
    await t[Symbol.asyncDispose]()
    await place[Symbol.asyncDispose]()
    await inbox[Symbol.asyncDispose]()
  })

  const hook = (change: object = {}) => ({
    name: 'ops',
    config: { kind: 'webhook', url: inbox.url, secret: SECRET },
    ...change,
  })
  const late = async (): Promise<void> => {
    await t.crash()
    for (let looks = 0; looks < 12; looks++) {
      await evaluateOnly()
      await idle(15_000)
    }
    await look()
  }
  const alertOn = async (workspace: string): Promise<Body | undefined> => {
    const { body } = await ask('ana', 'GET /alerts?state=open')
    return body.data.find((each) => each.workspace === workspace && each.rule === NOT_FIRED)
  }

  it('an alert is listed, acknowledged, muted, unmuted and resolved, and each change is on record', async () => {
    await ask('ana', 'POST /channels', hook())
    await late()
    const { id } = (await alertOn('default'))!
    expect((await ask('rea', `GET /alerts/${id}`)).body).toMatchObject({
      ...{ id, rule: NOT_FIRED, kind: 'schedule_not_fired', severity: 'critical', state: 'open', mutedUntil: null },
      title: 'Schedule default/ours has not fired',
      openedAt: '2027-01-01T00:02:15.000Z',
    })
    expect((await ask('rea', `POST /alerts/${id}/acknowledge`)).status).toBe(403)
    const taken = await ask('ola', `POST /alerts/${id}/acknowledge`)
    expect(taken).toMatchObject({ status: 200, body: { state: 'acknowledged', acknowledged: { by: 'ola' } } })
    expect(await ask('ana', `POST /alerts/${id}/acknowledge`)).toMatchObject({ status: 200, body: taken.body })
    expect((await ask('ola', `POST /alerts/${id}/mute`, {})).status).toBe(422)
    expect((await ask('ola', `POST /alerts/${id}/mute`, { until: '2026-01-01T00:00:00Z' })).status).toBe(422)
    expect((await ask('ola', `POST /alerts/${id}/mute`, { for: '1h', until: '2028-01-01T00:00:00Z' })).status).toBe(422)
    const muted = await ask('ola', `POST /alerts/${id}/mute`, { for: '1h' })
    expect(muted.body).toMatchObject({ mutedUntil: '2027-01-01T01:03:30.000Z', state: 'acknowledged' })
    expect((await ask('ola', `POST /alerts/${id}/unmute`)).body).toMatchObject({ mutedUntil: null })
    expect((await ask('ola', `POST /alerts/${id}/resolve`)).body).toMatchObject({
      state: 'resolved',
      resolved: { by: 'ola' },
    })
    expect((await ask('ola', `POST /alerts/${id}/resolve`)).status).toBe(200)
    expect((await ask('ola', `POST /alerts/${id}/mute`, { for: '1h' })).status).toBe(409)
    expect((await ask('ola', `POST /alerts/${id}/acknowledge`)).status).toBe(409)
    expect((await ask('rea', 'GET /alerts?state=resolved')).body.data).toMatchObject([{ id }])
    const entries = await place.store.auditLog.list({ limit: 50 })
    expect(entries.map(({ action }) => action).filter((action) => action.startsWith('alert.'))).toEqual([
      'alert.resolve',
      'alert.unmute',
      'alert.mute',
      'alert.acknowledge',
    ])
    await createNotifier({
      store: place.store,
      voice: { clock: place.clock, logger: loggerOf(), allowPrivate: true },
    }).pass()
    const told = inbox.heard.filter(({ text }) => text.includes(id)).map(({ body }) => body.type)
    expect(told).toEqual(['alert.opened', 'alert.resolved'])
  })

  it('pages of alerts run from the newest to the oldest', async () => {
    await late()
    const all = (await ask('rea', 'GET /alerts')).body.data
    expect(all.length).toBeGreaterThan(2)
    const first = (await ask('rea', 'GET /alerts?limit=1')).body
    expect(first.page.hasMore).toBe(true)
    const second = (await ask('rea', `GET /alerts?limit=1&cursor=${first.page.next}`)).body
    expect([...first.data, ...second.data]).toEqual(all.slice(0, 2))
    expect((await ask('rea', 'GET /alerts?cursor=none')).status).toBe(400)
    expect((await ask('rea', 'GET /alerts?state=gone')).status).toBe(422)
  })

  it('the default rules are there, can be changed, switched off and had back', async () => {
    const { body } = await ask('rea', 'GET /alert-rules')
    expect(body.data).toHaveLength(20)
    expect(body.data.every(({ isDefault, enabled }) => isDefault && enabled)).toBe(true)
    const rule = `/alert-rules/${NOT_FIRED}`
    const off = { kind: 'schedule_not_fired', enabled: false, settings: { grace: '5m' } }
    expect((await ask('ola', `PUT ${rule}`, off)).status).toBe(403)
    const changed = await ask('ana', `PUT ${rule}`, off)
    expect(changed).toMatchObject({
      status: 200,
      body: { enabled: false, settings: { grace: '5m' }, isDefault: false },
    })
    expect((await ask('rea', `GET ${rule}`)).body).toEqual(changed.body)
    await late()
    expect(await alertOn('default')).toBeUndefined()
    expect((await ask('ana', `PUT ${rule}`, { kind: 'missed' })).status).toBe(422)
    expect((await ask('ana', `DELETE ${rule}`)).status).toBe(204)
    expect((await ask('rea', `GET ${rule}`)).body).toMatchObject({ isDefault: true, settings: { grace: '1m' } })
    await look()
    expect(await alertOn('default')).toBeDefined()
  })

  it('a rule is added, replaced and removed, and refused where it makes no sense', async () => {
    const added = await ask('ana', 'POST /alert-rules', { kind: 'queue_age', settings: { age: '1h' } })
    expect(added).toMatchObject({ status: 201, body: { kind: 'queue_age', workspace: null, settings: { age: '1h' } } })
    const path = `/alert-rules/${added.body.id}`
    expect((await ask('ana', `PUT ${path}`, { kind: 'queue_age', name: 'old' })).body).toMatchObject({
      name: 'old',
      settings: { age: '5m' },
    })
    for (const wrong of [
      { kind: 'queue_age', settings: { agee: '1h' } },
      { kind: 'queue_age', settings: { age: 'soon' } },
      { kind: 'nothing' },
      { kind: 'queue_age', workspace: 'acme' },
      { kind: 'missed', channels: ['00000000-0000-0000-0000-000000000000'] },
    ])
      expect((await ask('ana', 'POST /alert-rules', wrong)).status).toBe(422)
    expect((await ask('ana', `DELETE ${path}`)).status).toBe(204)
    expect((await ask('ana', `GET ${path}`)).status).toBe(404)
    expect((await ask('ana', `PUT ${path}`, { kind: 'queue_age' })).status).toBe(404)
    expect((await ask('ana', `DELETE ${path}`)).status).toBe(404)
  })

  it('a channel keeps its secrets to itself', async () => {
    const mail = {
      kind: 'email',
      host: '127.0.0.1',
      port: 1,
      user: 'u',
      password: 'geheim-1',
      from: 'a@b.c',
      to: ['d@e.f'],
    }
    const slack = { kind: 'slack', url: `${inbox.url}/geheim-2` }
    const made = [
      await ask('ana', 'POST /channels', hook()),
      await ask('ana', 'POST /channels', { name: 'mail', config: mail }),
      await ask('ana', 'POST /channels', { name: 'slack', config: slack }),
    ]
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201])
    expect(made[0]!.body.config).toEqual({ kind: 'webhook', url: inbox.url, secret: true })
    expect(made[2]!.body.config).toEqual({ kind: 'slack', url: true })
    expect((await ask('ola', 'GET /channels')).status).toBe(403)
    expect((await ask('ana', 'GET /channels')).body.data).toHaveLength(3)
    const [hookId, mailId, slackId] = made.map(({ body }) => body.id)
    await ask('ana', `PATCH /channels/${mailId}`, { config: { port: 465 }, name: 'post' })
    expect((await ask('ana', `PATCH /channels/${mailId}`, { config: { host: '127.0.0.2' } })).status).toBe(422)
    expect((await ask('ana', `POST /channels/${slackId}/test`)).body).toEqual({ delivered: true, error: null })
    inbox.answer = { status: 500 }
    expect((await ask('ana', `POST /channels/${hookId}/test`)).body).toMatchObject({ delivered: false })
    expect(inbox.heard.at(-1)).toMatchObject({ signed: true, body: { type: 'alert.test' } })
    await late()
    expect((await ask('ana', `DELETE /channels/${slackId}`)).status).toBe(204)
    expect((await ask('ana', `GET /channels/${slackId}`)).status).toBe(404)
    const recorded = JSON.stringify(await place.store.auditLog.list({ limit: 200 }))
    expect(recorded).toContain('channel.edit')
    const spoken = [...answers, recorded, JSON.stringify(logged)].join('\n')
    for (const secret of [SECRET, 'geheim-1', 'geheim-2']) expect(spoken).not.toContain(secret)
  })

  it('a channel that a rule names is not removed', async () => {
    const { body } = await ask('ana', 'POST /channels', hook())
    const rule = await ask('ana', 'POST /alert-rules', { kind: 'missed', channels: [body.id] })
    expect(rule).toMatchObject({ status: 201, body: { channels: [body.id] } })
    expect((await ask('ana', `DELETE /channels/${body.id}`)).status).toBe(409)
    await ask('ana', `DELETE /alert-rules/${rule.body.id}`)
    expect((await ask('ana', `DELETE /channels/${body.id}`)).status).toBe(204)
  })

  it('whoever is bound to a workspace sees and touches nothing else', async () => {
    const ours = (await ask('ana', 'POST /channels', hook())).body
    const theirs = await ask('acme', 'POST /channels', hook())
    expect(theirs).toMatchObject({ status: 201, body: { workspace: 'acme' } })
    expect((await ask('acme', 'POST /channels', hook({ workspace: 'default' }))).status).toBe(403)
    expect((await ask('acme', 'POST /channels', { name: 'l', config: { kind: 'log' } })).status).toBe(422)
    expect((await ask('acme', 'GET /channels')).body.data).toEqual([theirs.body])
    for (const call of ['GET', 'PATCH', 'DELETE'])
      expect((await ask('acme', `${call} /channels/${ours.id}`, call === 'PATCH' ? {} : undefined)).status).toBe(404)
    expect((await ask('acme', `POST /channels/${ours.id}/test`)).status).toBe(404)

    expect((await ask('acme', 'GET /alert-rules')).body.data).toEqual([])
    const off = { kind: 'schedule_not_fired', enabled: false }
    expect((await ask('acme', `PUT /alert-rules/${NOT_FIRED}`, off)).status).toBe(404)
    expect((await ask('acme', `DELETE /alert-rules/${NOT_FIRED}`)).status).toBe(404)
    expect((await ask('acme', 'POST /alert-rules', { kind: 'planner_stalled' })).status).toBe(422)
    expect((await ask('acme', 'POST /alert-rules', { kind: 'missed', channels: [ours.id] })).status).toBe(422)
    expect((await ask('acme', 'POST /alert-rules', { kind: 'missed' })).body.workspace).toBe('acme')

    await late()
    const seen = (await ask('acme', 'GET /alerts')).body.data
    expect(seen.map(({ workspace }) => workspace)).toEqual(['acme'])
    expect((await ask('acme', 'GET /alerts?workspace=default')).status).toBe(403)
    const { id } = (await alertOn('default'))!
    expect((await ask('acme', `GET /alerts/${id}`)).status).toBe(404)
    for (const verb of ['acknowledge', 'unmute', 'resolve'])
      expect((await ask('acme', `POST /alerts/${id}/${verb}`)).status).toBe(404)
    expect((await ask('acme', `POST /alerts/${id}/mute`, { for: '1h' })).status).toBe(404)
    expect((await ask('ana', `GET /alerts/${id}`)).body.state).toBe('open')
  })
})
