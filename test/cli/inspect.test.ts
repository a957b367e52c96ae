/** The commands that look, by the built program: `next` of a stored schedule, `why`, `forecast`, `audit` and `audit-log` on both stores and, with their details, against a server; `simulate` and `bench`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt } from '../built-package.ts'
import { openStill, program, programOnTerminal, type StillPlace } from './still-place.ts'

beforeAll(ensureBuilt)
const MONDAY = '2027-01-04T00:00:00Z'

/** A schedule of a workspace, one that is paused, and a change in the log. */
async function openFilled(name: Parameters<typeof openStill>[0]): Promise<StillPlace> {
  const place = await openStill(name)
  const { schedules } = place.app
  const digest = { key: 'digest', cron: '0 9 * * 1-5', timezone: 'America/New_York', jitter: '10m' }
  await schedules.upsert({ ...digest, workspace: 't_42', job: 'mail' } as never)
  await schedules.upsert({ key: 'hourly', every: '1h', job: 'report' } as never)
  await schedules.pause('default', 'hourly', { by: 'ana', reason: 'lunch' })
  await place.ask('POST', '/queues/seen/pause', {})
  return place
}

const inTwoHours = (): string => new Date((Math.floor(Date.now() / 3_600_000) + 2) * 3_600_000).toISOString()

describe.each(['sqlite', 'postgres'] as const)('on %s', (name) => {
  let place: StillPlace
  beforeAll(async () => {
    place = await openFilled(name)
  })
  afterAll(() => place[Symbol.asyncDispose]())

  it('every command that looks finds what is stored', async () => {
    await place.age(3)
    const ends = await place.runAll(
      ['next', 'digest@t_42', '-n', '2', '--from', MONDAY],
      ['why', 'hourly', inTwoHours()],
      ['forecast', '--hours', '168', '--json'],
      ['audit-log', '--limit', '1'],
      ['audit-log', 'verify'],
      ['audit', 'default/hourly'],
    )
    const [next, why, forecast, log, verified, audit] = ends
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 5])
    expect(next?.out).toMatch(/^Mon 2027-01-04 09:00 -05:00\t\+\d.*\t2027-01-04T14:0\d:.*\t14h.*\n.*\n$/)
    expect(why?.out).toMatch(/^✗\tpause\t.*ana/m)
    const told = JSON.parse(forecast!.out)
    expect(Object.keys(told)).toEqual(['forecast', 'spikes', 'clockChanges'])
    expect(log?.out.split('\n')[0]?.split('\t').slice(3)).toEqual(['queue.pause', '-', 'queue seen'])
    expect(verified?.out).toContain('intact')
    expect(audit?.out.match(/^lost\thourly\t\S+:00:00Z$/gm)).toHaveLength(3)
    expect(audit?.err).toBe('CHECK_FAILED: the ledger does not add up: 3 lost\n')
  })

  it('bench warns that it writes to a database that was named', async () => {
    const { code, err } = await place.run('bench', '--runs', '20')
    expect(code).toBe(0)
    expect(err).toContain('writing to the database')
  })
})

describe('against a server', () => {
  let place: StillPlace
  beforeAll(async () => {
    place = await openFilled('server')
  })
  afterAll(() => place[Symbol.asyncDispose]())

  it('next knows a stored schedule by both ways of naming it, with its zone and its jitter', async () => {
    const args = ['-n', '2', '--from', MONDAY]
    const [one, other, body] = await Promise.all([
      place.run('next', 'digest@t_42', ...args),
      place.run('next', 't_42/digest', ...args),
      place.run('next', 'digest@t_42', ...args, '--json'),
    ])
    expect(one).toEqual(other)
    const rows = one.out.trimEnd().split('\n')
    expect([one.code, rows.length]).toEqual([0, 2])
    const [wall, later, due, distance] = rows[0]!.split('\t')
    expect(wall).toBe('Mon 2027-01-04 09:00 -05:00')
    expect(later).toMatch(/^\+\d/)
    expect(due).toMatch(/^2027-01-04T14:0\d:/)
    expect(distance).toMatch(/^14h/)
    const [first] = JSON.parse(body.out)
    expect(first).toMatchObject({ scheduledAt: '2027-01-04T14:00:00.000Z' })
  })

  it('next says when there is no such schedule (3), and refuses what its definition decides (2)', async () => {
    const [none, own] = await Promise.all([
      place.run('next', 'nobody@t_42'),
      place.run('next', 'digest@t_42', '--gap', 'skip'),
    ])
    expect([none.code, own.code]).toEqual([3, 2])
  })

  it('why gives the verdict, the checklist and what to change', async () => {
    const at = inTwoHours()
    const [piped, json, none, when] = await Promise.all([
      place.run('why', 'hourly', at),
      place.run('why', 'hourly', at, '--json'),
      place.run('why', 'nobody', at),
      place.run('why', 'hourly', 'yesterday'),
    ])
    expect(piped.code).toBe(0)
    expect(piped.out).toMatch(/^=\t\w+\t/)
    expect(piped.out).toMatch(/^✗\tpause\t.*ana/m)
    expect(piped.out).toMatch(/^→\tfix\tresume the schedule: everytick schedules resume hourly$/m)
    const body = JSON.parse(json.out)
    expect(body.checks.map((check: { name: string }) => check.name)).toContain('pause')
    expect([none.code, when.code]).toEqual([3, 2])
  })

  it('forecast is a row an hour in a pipe, and a strip with clock changes on a terminal', async () => {
    const [piped, shown, wrong, json] = await Promise.all([
      place.run('forecast', '--hours', '30'),
      place.onTerminal('forecast', '--hours', '168'),
      place.run('forecast', '--hours', '169'),
      place.run('forecast', '--workspace', 't_42', '--json'),
    ])
    expect(piped.out.trimEnd().split('\n')).toHaveLength(30)
    expect(shown.out).toMatch(/^ {2}5 fires in 168 hours/)
    expect(shown.out).toContain('██')
    expect(shown.out).toMatch(/America\/New_York changes its clock: 1 moved in UTC \(t_42\/digest\)/)
    expect([piped.code, shown.code, wrong.code]).toEqual([0, 0, 2])
    const all = JSON.parse(json.out)
    expect(Object.keys(all)).toEqual(['forecast', 'spikes', 'clockChanges'])
  })

  it('audit-log lists changes and verifies its chain', async () => {
    const [log, verified] = await place.runAll(['audit-log', '--limit', '1'], ['audit-log', 'verify'])
    const [last] = log!.out.split('\n')
    expect(last?.split('\t').slice(3)).toEqual(['queue.pause', '-', 'queue seen'])
    expect(verified).toMatchObject({ code: 0, out: expect.stringContaining('intact') })
  })

  it('audit-log head prints the newest hash, and verify exits with 5 when no entry has the one expected', async () => {
    const [piped, json] = await place.runAll(['audit-log', 'head'], ['audit-log', 'head', '--json'])
    const { entries, hash } = JSON.parse(json!.out)
    expect(piped!.out.trim().split('\t')).toEqual([String(entries), expect.any(String), hash])
    const [leased, cut, wrong, body] = await place.runAll(
      ['audit-log', 'verify', '--expect', hash],
      ['audit-log', 'verify', '--expect', 'f'.repeat(64)],
      ['audit-log', 'verify', '--expect', 'nonsense'],
      ['audit-log', 'verify', '--expect', 'f'.repeat(64), '--json'],
    )
    expect(leased).toMatchObject({ code: 0, out: expect.stringContaining(`entry ${entries} has the expected hash`) })
    expect(cut).toMatchObject({
      code: 5,
      out: '',
      err: expect.stringMatching(/^CHECK_FAILED: none of the \d+ audit log entries has the hash/),
    })
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('--expect') })
    expect(body!.code).toBe(5)
    expect(JSON.parse(body!.out)).toMatchObject({ entries, brokenAt: null, expectedAt: null })
  })

  it('audit exits with 0 when the ledger adds up, and with 5 and the names when it does not', async () => {
    const [clean, none, forgotten] = await place.runAll(
      ['audit', '--since', '12h'],
      ['audit', 'nobody'],
      ['audit', '--since', '2001-01-01T00:00:00Z'],
    )
    expect(clean).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/^schedules\t2$/m) })
    expect([none?.code, forgotten?.code]).toEqual([3, 2])
    await place.age(3)
    const args = ['audit', 'default/hourly']
    const [amiss, shown, body] = await Promise.all([
      place.run(...args),
      place.onTerminal(...args),
      place.run(...args, '--json'),
    ])
    expect([amiss.code, shown.code, body.code]).toEqual([5, 5, 5])
    expect(amiss.out.match(/^lost\thourly\t\S+:00:00Z$/gm)).toHaveLength(3)
    expect(amiss.err).toBe('CHECK_FAILED: the ledger does not add up: 3 lost\n')
    expect(shown.out).toMatch(/✗ 3 occurrences of 1 schedule = 0 runs \+ 0 on record/)
    expect(JSON.parse(body.out)).toMatchObject({ ok: false, lostCount: 3, schedules: 1 })
  })
})

describe('everytick simulate', () => {
  const outage = '2027-01-01T05:00:00Z/2027-01-01T07:00:00Z'
  const args = ['simulate', '0 * * * *', '--from', '2027-01-01T00:00:00Z', '--outage', outage, '--catch-up', 'latest']

  it('needs no database, and lists every occurrence in a pipe', async () => {
    const { code, out, err } = await program(...args, '--to', '2027-01-01T08:00:00Z', '--duration', '5m')
    const rows = out.trimEnd().split('\n')
    expect({ code, err, count: rows.length }).toEqual({ code: 0, err: '', count: 8 })
    expect(rows[0]).toBe('2027-01-01T01:00:00Z\tran\t2027-01-01T01:00:00Z\t2027-01-01T01:05:00Z\t-')
    expect(out).toMatch(/^2027-01-01T06:00:00Z\tcaught_up\t/m)
  })

  it('draws a concurrency group on a terminal', async () => {
    const { code, out } = await programOnTerminal(...args, '--duration', '90m', '--overlap', 'skip')
    expect(code).toBe(0)
    const [slots, work] = out.split('\n')
    expect(slots).toMatch(/^ {2}slots +▮[ ▮▯·↻]+/)
    expect(work).toMatch(/^ {2}work +█+.*░+.*█/)
    expect(out).toMatch(/▮ \d+ ran {3}.*▯ \d+ skipped/)
    expect(out).toMatch(/▯ skipped .*overlap/)
  })

  it('refuses what cannot be read with exit 2', async () => {
    const refused = await Promise.all([
      program('simulate', '0 25 * * *'),
      program('simulate', '0 * * * *', '--outage', 'all-day'),
      program('simulate', '0 * * * *', '--overlap', 'never'),
      program('simulate', '0 * * * *', '--duration', 'long'),
    ])
    expect(refused.map(({ code }) => code)).toEqual([2, 2, 2, 2])
    expect(refused[0]?.err).toContain('    ^^   did you mean 0 1 * * *?')
  })
})

describe('everytick bench', () => {
  it('measures on a file of its own, and says so in JSON', async () => {
    const { code, out, err } = await program('bench', '--runs', '50', '--json')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(JSON.parse(out)).toMatchObject({
      ...{ runs: 50, enqueuedPerSecond: expect.any(Number), drainedPerSecond: expect.any(Number) },
      pickUpMs: { p50: expect.any(Number) },
    })
  })

  it('says what it would write without opening the database, and refuses too few runs with exit 2', async () => {
    const [dry, few] = await Promise.all([
      program('bench', '--dry-run', '--db', 'postgres://127.0.0.1:1/nowhere'),
      program('bench', '--runs', '1'),
    ])
    expect(dry.out).toMatch(/^would write to the database: 2100 finished runs/)
    expect(few.code).toBe(2)
  })
})
