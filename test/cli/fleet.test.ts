/** `everytick queues`, `workers`, `alerts`, `alert-rules` and `channels`, by the built program: each on both stores and against a server, their details against the server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { coreOf } from '../../src/scheduler/core.ts'
import { openAlert } from '../../src/server/alerting/alerts.ts'
import { ensureBuilt } from '../built-package.ts'
import { openStill, type StillPlace } from './still-place.ts'

beforeAll(ensureBuilt)
const NOBODY = '0190a0f0-0000-7000-8000-000000000000'
const RULE = 'default-failed-in-a-row'
const HOOK = { kind: 'webhook', url: 'http://127.0.0.1:9/', secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}` }

async function openAlertOf({ app }: StillPlace, subject: string, title = `${subject} was missed`): Promise<string> {
  const core = coreOf(app)
  const rule = { ruleId: 'default-missed', kind: 'missed', severity: 'warning', workspace: 'shop' } as const
  const alert = { ...rule, subject, title, values: {}, openedAt: 0 }
  return (await openAlert((await core.store()).documents, alert, core.newId))!.alert.id
}

async function reportPresence({ app }: StillPlace): Promise<void> {
  const { workers } = await coreOf(app).store()
  const process = { id: 'w-1', host: 'h', pid: 7, tzdata: '2026a', busy: 1 }
  await workers.reportPresence({ ...process, roles: ['worker'], queues: { mail: 3 } })
}

const channelOf = async ({ ask }: StillPlace, name: string): Promise<string> =>
  (await ask<{ id: string }>('POST', '/channels', { name, config: HOOK })).id

describe.each(['sqlite', 'postgres'] as const)('on %s', (name) => {
  it('every command of the fleet works, and four at once do not lose each other’s changes', async () => {
    await using place = await openStill(name)
    await reportPresence(place)
    const [acked, muted, unmuted, resolved] = await Promise.all(
      ['a', 'b', 'c', 'd'].map((subject) => openAlertOf(place, subject)),
    )
    await place.ask('POST', `/alerts/${unmuted}/mute`, { for: '2h' })
    await place.ask('POST', '/queues/held/pause', {})
    const [tested, removed] = [await channelOf(place, 'tested'), await channelOf(place, 'removed')]
    const ends = await place.runAll(
      ['queues', 'pause', 'mail', '--reason', 'lunch'],
      ['queues', 'resume', 'held'],
      ['queues', 'limit', 'busy', '--global-concurrency', '5', '--rate', '100/1m'],
      ['workers', 'drain', 'w-1'],
      ['alerts', 'ack', acked!],
      ['alerts', 'mute', muted!, '--for', '2h'],
      ['alerts', 'unmute', unmuted!],
      ['alerts', 'resolve', resolved!],
      ['alert-rules', 'set', RULE, '--off', '--setting', 'count=5'],
      ['channels', 'add', 'log', '--kind', 'log'],
      ['channels', 'test', tested],
      ['channels', 'rm', removed],
    )
    expect(ends.map(({ code, err }) => ({ code, err }))).toEqual(
      ends.map((_, i) =>
        i === 10 ? { code: 1, err: expect.stringContaining('NOT_DELIVERED') } : { code: 0, err: '' },
      ),
    )
    const lists = await place.runAll(
      ['queues', '--json'],
      ['workers', '--json'],
      ['alerts', '--state', 'any', '--json'],
      ['alert-rules', '--json'],
      ['channels', '--json'],
    )
    const [queues, workers, alerts, rules, channels] = lists.map(({ out }) => JSON.parse(out))
    const one = (items: { id?: string; name?: string; paused?: unknown }[], key: string) =>
      items.find((item) => item.id === key || item.name === key)
    expect(one(queues, 'mail')).toMatchObject({ paused: { by: 'cli', reason: 'lunch' } })
    expect(one(queues, 'held')?.paused ?? null).toBeNull()
    expect(one(queues, 'busy')).toMatchObject({
      globalConcurrency: 5,
      rateLimit: { limit: 100, per: '1m' },
      paused: null,
    })
    expect(workers).toMatchObject([{ id: 'w-1', draining: true }])
    expect(one(alerts, acked!)).toMatchObject({ state: 'acknowledged', mutedUntil: null })
    expect(one(alerts, muted!)).toMatchObject({ state: 'open', mutedUntil: expect.any(String) })
    expect(one(alerts, unmuted!)).toMatchObject({ state: 'open', mutedUntil: null })
    expect(one(alerts, resolved!)).toMatchObject({ state: 'resolved' })
    expect(one(rules, RULE)).toMatchObject({ enabled: false, settings: { count: 5 }, isDefault: false })
    expect(channels.map((channel: { name: string }) => channel.name)).toEqual(['log', 'tested'])
  })
})

describe('against a server', () => {
  let place: StillPlace
  beforeAll(async () => {
    place = await openStill('server')
  })
  afterAll(() => place[Symbol.asyncDispose]())

  it('queues are paused, limited bit by bit, and resumed', async () => {
    const dry = await place.run('queues', 'pause', 'mail', '--reason', 'lunch', '--dry-run')
    expect(dry).toMatchObject({ code: 0, out: 'would pause queue mail\n' })
    expect((await place.run('queues', '--json')).out.trim()).toBe('[]')
    expect((await place.run('queues', 'pause', 'mail', '--reason', 'lunch')).out).toBe('paused queue mail\n')
    await place.run('queues', 'limit', 'mail', '--global-concurrency', '5')
    const limited = await place.run('queues', 'limit', 'mail', '--rate', '100/1m')
    expect(limited.out).toBe('queue mail: global concurrency 5, per workspace -, rate 100/1m\n')
    const [row] = (await place.run('queues')).out.split('\n')
    const paused = expect.stringMatching(/^paused by \w+: lunch$/)
    expect(row?.split('\t')).toEqual(['mail', '0', '0', '-', '5', '-', '100/1m', paused])
    expect((await place.run('queues', 'limit', 'mail', '--global-concurrency', 'none')).out).toContain(
      'global concurrency -,',
    )
    expect((await place.run('queues', 'resume', 'mail')).out).toBe('resumed queue mail\n')
    expect((await place.run('queues', 'resume', 'mail')).out).toBe('queue mail was not paused\n')
  })

  it('limits that cannot be read are refused with exit 2', async () => {
    const refused = await place.runAll(
      ['queues', 'limit', 'mail'],
      ['queues', 'limit', 'mail', '--global-concurrency', '0'],
      ['queues', 'limit', 'mail', '--rate', 'fast'],
      ['queues', 'limit', 'mail', '--rate', '5/fortnight'],
    )
    expect(refused.map(({ code }) => code)).toEqual([2, 2, 2, 2])
  })

  it('quotas are shown with what the workspace uses of them', async () => {
    await place.ask('POST', '/schedules', {
      key: 'nightly',
      workspace: 'shop',
      every: '1h',
      job: 'noop',
      queue: 'mail',
    })
    const shown = async (...args: string[]) =>
      (await place.run('quotas', ...args)).out
        .trimEnd()
        .split('\n')
        .map((row) => row.split('\t'))
    const [used] = await shown('--workspace', 'shop', '--json', 'quota,used,limit')
    const { data } = await place.ask<{ data: { quota: string }[] }>('GET', '/quotas?workspace=shop')
    const rows = await shown('--workspace', 'shop')
    expect(rows.map(([quota]) => quota)).toEqual(data.map(({ quota }) => quota))
    expect(rows).toContainEqual(['queues', expect.any(String), '100', 'bound keys'])
    expect(rows).toContainEqual(['smallestInterval', '-', '1s', 'bound keys'])
    expect(rows).toContainEqual(['payloadBytesPerDay', '0 bytes', '1073741824 bytes', 'bound keys'])
    expect(used!.join()).toContain('"quota":"schedules","used":1')
    expect(await shown()).toContainEqual(['schedules', '0', '10000', 'bound keys'])
  })

  it('locks are listed and released, those of the engine only when they are named as such', async () => {
    const { locks } = await coreOf(place.app).store()
    await locks.acquire('user:report', 'app-1 call-1', 600_000)
    await locks.acquire('twin', 'node-2', 600_000)
    const rows = (await place.run('locks')).out
      .trimEnd()
      .split('\n')
      .map((row) => row.split('\t').slice(0, 4))
    expect(rows).toContainEqual(['report', 'user', 'app-1', '1'])
    expect(rows).toContainEqual(['twin', 'engine', 'node-2', '1'])
    const [dry, wrong, stale] = await Promise.all([
      place.run('locks', 'release', 'report', '--dry-run'),
      place.run('locks', 'release', 'twin'),
      place.run('locks', 'release', 'report', '--fence', '7'),
    ])
    expect(dry.out).toBe('would release lock report\n')
    expect(wrong).toMatchObject({ code: 3, err: expect.stringContaining('LOCK_NOT_FOUND') })
    expect(stale.err).toContain('LOCK_HELD')
    expect((await place.run('locks', 'release', 'report')).out).toBe('released lock report, which app-1 held\n')
    expect((await place.run('locks', 'release', 'twin', '--engine')).code).toBe(0)
    const left = JSON.parse((await place.run('locks', '--json')).out) as { name: string }[]
    expect(left.filter(({ name }) => name === 'report' || name === 'twin')).toEqual([])
    const audit = (await place.run('audit-log', '--json')).out
    expect(audit).toContain('lock.release')
    expect(audit).toContain('lock twin')
  })

  it('workers are listed and drained', async () => {
    await reportPresence(place)
    const row = async () => (await place.run('workers')).out.trimEnd().split('\t')
    const [shown, dry, strange, strangeDry] = await Promise.all([
      row(),
      place.run('workers', 'drain', 'w-1', '--dry-run'),
      place.run('workers', 'drain', 'w-2'),
      place.run('workers', 'drain', 'w-2', '--dry-run'),
    ])
    expect(shown).toEqual(['w-1', 'h', '7', 'worker', 'mail×3', '1', expect.any(String), 'alive'])
    expect(dry.out).toBe('would drain worker w-1\n')
    expect([strange.code, strangeDry.code]).toEqual([3, 3])
    expect(await place.ask('GET', '/workers')).toMatchObject({ data: [{ id: 'w-1', draining: false }] })
    expect((await place.run('workers', 'drain', 'w-1')).code).toBe(0)
    expect((await row()).at(-1)).toBe('draining')
  })

  it('alerts are acknowledged, muted and resolved', async () => {
    const id = await openAlertOf(place, 'schedule x', 'x was \u001b[31mmissed')
    const state = () => place.ask<{ mutedUntil: string | null }>('GET', `/alerts/${id}`)
    const [listed, dry] = await place.runAll(['alerts', 'ls'], ['alerts', 'ack', id, '--dry-run'])
    expect(listed?.out).toContain('x was \\u{1b}[31mmissed')
    expect(dry?.out).toMatch(/^would acknowledge: x was/)
    expect(await state()).toMatchObject({ id, state: 'open', acknowledged: null })
    await place.run('alerts', 'ack', id)
    expect(await state()).toMatchObject({ state: 'acknowledged' })
    await place.run('alerts', 'mute', id, '--for', '2h')
    expect((await state()).mutedUntil).not.toBeNull()
    await place.run('alerts', 'unmute', id)
    expect((await state()).mutedUntil).toBeNull()
    await place.run('alerts', 'resolve', id)
    const [open, any, again, nobody] = await place.runAll(
      ['alerts', '--json'],
      ['alerts', '--state', 'any', '--json'],
      ['alerts', 'ack', id],
      ['alerts', 'ack', NOBODY],
    )
    expect(JSON.parse(open!.out)).toEqual([])
    expect(JSON.parse(any!.out)).toMatchObject([{ id, state: 'resolved' }])
    expect([again?.code, nobody?.code]).toEqual([3, 3])
  })

  it('alert rules are changed in what is named only', async () => {
    const listed = JSON.parse((await place.run('alert-rules', '--json')).out)
    const before = listed.find((rule: { id: string }) => rule.id === RULE)
    expect(before).toMatchObject({ enabled: true, settings: { count: 3 }, isDefault: true })
    const [dry, strange, wrong, both] = await place.runAll(
      ['alert-rules', 'set', RULE, '--off', '--dry-run'],
      ['alert-rules', 'set', 'no-such', '--on'],
      ['alert-rules', 'set', RULE, '--setting', 'count=never'],
      ['alert-rules', 'set', RULE, '--on', '--off'],
    )
    expect(dry?.out).toContain('enabled true → false')
    expect([strange?.code, wrong?.code, both?.code]).toEqual([3, 2, 2])
    expect(await place.ask('GET', `/alert-rules/${RULE}`)).toEqual(before)
    await place.run('alert-rules', 'set', RULE, '--setting', 'count=5')
    await place.run('alert-rules', 'set', RULE, '--off', '--severity', 'critical')
    const changed = { enabled: false, severity: 'critical', settings: { count: 5 }, isDefault: false }
    expect(await place.ask('GET', `/alert-rules/${RULE}`)).toEqual({ ...before, ...changed })
  })

  it('channels are added, tested and removed, and a secret is told once', async () => {
    const [added, dry, none] = await place.runAll(
      ['channels', 'add', 'hook', '--kind', 'webhook', '--address', HOOK.url],
      ['channels', 'add', 'log', '--kind', 'log', '--dry-run'],
      ['channels', 'add', 'x'],
    )
    const [id, secret] = added!.out.trimEnd().split('\t')
    expect(secret).toMatch(/^whsec_/)
    expect(dry?.out).toContain('would add')
    expect(none?.code).toBe(2)
    const [listed, tested] = await place.runAll(['channels'], ['channels', 'test', id!])
    expect(listed?.out).toContain(`${id}\thook\twebhook`)
    expect(listed?.out).not.toContain(secret)
    expect(tested).toMatchObject({ code: 1, err: expect.stringContaining('NOT_DELIVERED') })
    expect((await place.run('channels', 'rm', id!)).out).toBe('removed the channel hook\n')
    const [left, gone] = await place.runAll(['channels', '--json'], ['channels', 'rm', id!])
    expect(JSON.parse(left!.out)).toEqual([])
    expect(gone?.code).toBe(3)
  })
})
