/** What is to come and what would be, over HTTP, on both stores. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { coreOf } from '../../src/scheduler/core.ts'
import { openStage, STORES, type Stage } from './stage.ts'

const DAY = 86_400_000

describe.each(STORES)('the forecast on %s', (store) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage(store)
    const made = [
      { key: 'hourly', workspace: 'a', cron: '0 * * * *', job: 'plain' },
      { key: 'nightly', workspace: 'a', cron: '30 2 * * *', timezone: 'Europe/Berlin', job: 'failing' },
      { key: 'often', workspace: 'b', every: '1m', job: 'plain' },
      { key: 'resting', workspace: 'b', every: '1m', job: 'plain' },
    ]
    for (const body of made) expect((await stage.ask('POST', '/schedules', { body })).status).toBe(201)
    await stage.app.schedules.pause('b', 'resting')
    const { workers } = await coreOf(stage.app).store()
    const worker = { host: 'h', pid: 1, roles: ['worker'], tzdata: '', busy: 0 } as const
    await workers.reportPresence({ ...worker, id: 'w1', queues: { default: 10, mail: 2 } })
    await workers.reportPresence({ ...worker, id: 'w2', queues: { default: 8 } })
    await workers.drain('w2')
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  const fires = (body: { data: { fires: number }[] }): number => body.data.reduce((sum, each) => sum + each.fires, 0)

  it('counts the fires of the next 24 hours by 5 minutes, with the fleet that is there for them', async () => {
    const { status, body } = await stage.ask('GET', '/forecast', { as: 'read' })
    expect(status).toBe(200)
    expect(body).toMatchObject({ bucket: '5m', slots: 12 })
    expect(body.data).toHaveLength(288)
    expect(body.data[0]).toMatchObject({ at: body.from, capacity: 3600, top: [{ job: 'plain' }] })
    expect(Date.parse(body.to) - Date.parse(body.from)).toBe(DAY)
    const given = (await stage.ask('GET', '/forecast?from=2027-01-01T00:00:00Z')).body
    expect(fires(given)).toBe(24 + 1 + 1440)
  })

  it('counts over the span and by the bucket that was asked for', async () => {
    const path = '/forecast?from=2027-03-28T00:00:00Z&to=2027-03-28T02:00:00Z&bucket=30m'
    const { body } = await stage.ask('GET', path)
    expect(body.data.map((each: { at: string; fires: number }) => [each.at, each.fires])).toEqual([
      ['2027-03-28T00:00:00.000Z', 31],
      ['2027-03-28T00:30:00.000Z', 30],
      // 02:30 does not exist that night: it runs at 03:00, which is 01:00 in UTC.
      ['2027-03-28T01:00:00.000Z', 32],
      ['2027-03-28T01:30:00.000Z', 30],
    ])
  })

  it('shows a workspace its own fires, and nothing of the fleet', async () => {
    const own = await stage.ask('GET', '/forecast?from=2027-01-01T00:00:00Z', { as: 'a-read' })
    expect([fires(own.body), own.body.slots, own.body.data[0].capacity]).toEqual([25, null, null])
    expect(fires((await stage.ask('GET', '/forecast?workspace=b', { as: 'read' })).body)).toBe(1440)
    expect((await stage.ask('GET', '/forecast?workspace=b', { as: 'a-read' })).status).toBe(403)
  })

  it('is computed once for those who ask within a minute', async () => {
    const first = (await stage.ask('GET', '/forecast?bucket=1h')).body
    const body = { key: 'late', workspace: 'b', every: '1m', job: 'plain' }
    expect((await stage.ask('POST', '/schedules', { body })).status).toBe(201)
    const second = (await stage.ask('GET', '/forecast?bucket=1h')).body
    expect(second.asOf).toBe(first.asOf)
    expect(fires(second)).toBe(fires(first))
  })

  it.each([
    ['from=yesterday', 'INSTANT_INVALID'],
    ['bucket=often', 'DURATION_INVALID'],
    ['bucket=1ms', 'OPTION_INVALID'],
    ['bucket=1s', 'OPTION_INVALID'],
    ['from=2027-01-02T00:00:00Z&to=2027-01-01T00:00:00Z', 'OPTION_INVALID'],
    ['from=2027-01-01T00:00:00Z&to=2028-01-01T00:00:00Z&bucket=1d', 'OPTION_INVALID'],
    ['buckets=5m', 'REQUEST_INVALID'],
  ])('refuses %s', async (query, code) => {
    const { status, body } = await stage.ask('GET', `/forecast?${query}`)
    expect([status, body.code]).toEqual([422, code])
  })

  it('finds no spike among a few', async () => {
    const { status, body } = await stage.ask('GET', '/forecast/spikes', { as: 'a-read' })
    expect([status, body.data]).toEqual([200, []])
    expect(Date.parse(body.to) - Date.parse(body.from)).toBe(DAY)
  })

  it('tells what the next clock changes do, to those whose schedules they are', async () => {
    const { body } = await stage.ask('GET', '/forecast/clock-changes', { as: 'a-read' })
    const told = body.data.map((each: { effect: string; zone: string }) => `${each.zone} ${each.effect}`)
    expect(told.sort()).toEqual(['Europe/Berlin moved_in_utc', 'Europe/Berlin shifted'])
    expect(body.data[0]).toMatchObject({ schedules: 1, samples: [{ workspace: 'a', key: 'nightly' }] })
    expect((await stage.ask('GET', '/forecast/clock-changes', { as: 'b-read' })).body.data).toEqual([])
  })
})

describe('a simulation over HTTP', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage('sqlite')
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  const SPAN = { from: '2027-01-01T00:00:00Z', to: '2027-01-01T00:10:00Z' }

  it('lives through an outage with the policies that were given, and saves nothing', async () => {
    const body = {
      ...{ ...SPAN, cron: '* * * * *', overlap: 'queue', catchUp: 'all', catchUpLimit: 2, durations: ['1s', '2s'] },
      outages: [{ from: '2027-01-01T00:02:30Z', to: '2027-01-01T00:06:30Z' }],
    }
    const { status, body: lived } = await stage.ask('POST', '/simulate', { body, as: 'a-read' })
    expect(status).toBe(200)
    expect(lived.outcomes).toEqual({ ran: 5, missed: 2, caught_up: 2, running: 1 })
    expect(lived.entries[0]).toEqual({
      ...{ scheduledAt: '2027-01-01T00:01:00.000Z', dueAt: '2027-01-01T00:01:00.000Z' },
      ...{ startedAt: '2027-01-01T00:01:00.000Z', finishedAt: '2027-01-01T00:01:01.000Z' },
      ...{ outcome: 'ran', reason: null, attempts: 1 },
    })
    expect((await stage.ask('GET', '/schedules')).body.data).toEqual([])
  })

  it('takes the next 24 hours, no outage and no work where nothing is said', async () => {
    const { body } = await stage.ask('POST', '/simulate', { body: { every: '1h' } })
    expect(body.outcomes).toEqual({ ran: 24 })
  })

  it('stops after ten thousand occurrences', async () => {
    const body = { every: '1s', ...SPAN, to: '2027-06-01T00:00:00Z' }
    const { body: lived } = await stage.ask('POST', '/simulate', { body })
    expect([lived.truncated, lived.entries.length, lived.to]).toEqual([true, 10_000, '2027-01-01T02:46:40.000Z'])
  })

  it.each([
    [{ cron: '* * * *' }, 'CRON_FIELDS'],
    [{ cron: '0 0 30 2 *' }, 'CRON_NEVER'],
    [{ cron: '@reboot' }, 'CRON_MACRO'],
    [{ every: '1m', from: SPAN.to, to: SPAN.from }, 'OPTION_INVALID'],
    [{ every: '1m', from: SPAN.from, to: '2057-01-01T00:00:00Z' }, 'OPTION_INVALID'],
    [{ every: '1m', durations: 'long' }, 'DURATION_INVALID'],
    [{ every: '1m', durations: [] }, 'REQUEST_INVALID'],
    [{ every: '1m', outages: [{ from: SPAN.to, to: SPAN.from }] }, 'OPTION_INVALID'],
    [{ every: '1m', job: 'plain' }, 'REQUEST_INVALID'],
    [{}, 'OPTION_INVALID'],
  ])('refuses %j', async (body, code) => {
    const answer = await stage.ask('POST', '/simulate', { body })
    expect([answer.status, answer.body.code]).toEqual([422, code])
  })

  it.each([
    ['0 0 30 2 *', 'CRON_NEVER'],
    ['0 0 9 1 1 * 2020', 'CRON_NEVER'],
    ['@reboot', 'CRON_MACRO'],
  ])('makes no schedule of %s, which never fires', async (cron, code) => {
    const answer = await stage.ask('POST', '/schedules', { body: { key: 'never', job: 'plain', cron } })
    expect([answer.status, answer.body.code]).toEqual([422, code])
  })

  it('refuses a workspace to a key of another', async () => {
    const answer = await stage.ask('POST', '/simulate', { body: { every: '1h', workspace: 'b' }, as: 'a-read' })
    expect(answer.status).toBe(403)
  })
})
