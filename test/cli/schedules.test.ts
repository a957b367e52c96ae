/** `everytick schedules`, `trigger`, `backfill` and `ops`, by the built program: every command on both stores, and against a server in all detail. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { coreOf } from '../../src/scheduler/core.ts'
import { putNew } from '../../src/testing/conformance/samples.ts'
import { ensureBuilt } from '../built-package.ts'
import { onTerminal, openPlace, PLACES, type Place, runProgram } from './places.ts'

const STORES = PLACES.filter((name) => name !== 'a server')

let server: Place
beforeAll(async () => {
  ensureBuilt()
  server = await openPlace('a server')
})
afterAll(() => server[Symbol.asyncDispose]())

const PATIENT = { timeout: 20_000 }

const HOUR = 3_600_000
/** The last whole hours: the span of a backfill that is over. */
const hoursAgo = (now: number, hours: number): string =>
  new Date(now - (now % HOUR) - hours * HOUR).toISOString().replace('.000Z', 'Z')

describe.each(STORES)('schedules in %s', (name) => {
  let place: Place
  beforeAll(async () => {
    place = await openPlace(name)
  })
  afterAll(() => place[Symbol.asyncDispose]())

  it('are made, listed, shown, changed, paused, resumed and removed', async () => {
    const { run, app } = place
    for (const key of ['runs', 'rests', 'leaves'])
      await app.schedules.upsert({ workspace: 't_1', key, every: '1h', job: 'plain' })
    await app.schedules.pause('t_1', 'rests')
    const nightly = ['--job', 'plain', '--cron', '30 2 * * *', '--tz', 'Europe/Berlin', '--tag', 'finance']
    const [made, paused, resumed, removed] = await Promise.all([
      run('schedules', 'create', 't_1/nightly', ...nightly),
      run('schedules', 'pause', 't_1/runs', '--reason', 'vendor outage'),
      run('schedules', 'resume', 't_1/rests'),
      run('schedules', 'rm', 't_1/leaves', '--yes'),
    ])
    expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^created t_1\/nightly: .*next in/) })
    expect(made.err).toContain('does not exist')
    expect(paused).toMatchObject({ code: 0, out: 'paused t_1/runs\n' })
    expect((await app.schedules.get('t_1', 'runs'))!.paused).toMatchObject({ reason: 'vendor outage' })
    expect(resumed).toMatchObject({ code: 0, out: 'resumed t_1/rests\n' })
    expect((await app.schedules.get('t_1', 'rests'))!.paused).toBeNull()
    expect(removed).toMatchObject({ code: 0, out: 'removed t_1/leaves\n' })
    expect(await app.schedules.get('t_1', 'leaves')).toBeNull()

    const later = await run('schedules', 'create', 't_1/later', '--every', '1s', '--job', 'plain', '--paused', 'launch')
    expect(later).toMatchObject({ code: 0, out: expect.stringMatching(/^created t_1\/later: .*paused\n$/) })
    expect((await app.schedules.get('t_1', 'later'))!.paused).toMatchObject({ reason: 'launch', until: null })
    await app.schedules.remove('t_1', 'later')

    const [listed, shown, nobody] = await Promise.all([
      run('schedules', 'ls', 'workspace:t_1', 'tag:finance', 'night'),
      run('schedules', 'get', 't_1/nightly', '--json'),
      run('schedules', 'get', 't_1/leaves'),
    ])
    expect(listed.out.split('\t')).toEqual(
      ['nightly', 't_1', 'Every day at 02:30 Europe/Berlin', expect.stringMatching(/^\d{4}-.*Z$/), '··········', 'active\n'], // biome-ignore format: one row
    )
    expect(JSON.parse(shown.out)).toMatchObject({ key: 'nightly', workspace: 't_1', revision: 1, lastFiredAt: null })
    expect(nobody).toMatchObject({ code: 3, err: expect.stringContaining('NOT_FOUND') })
    const edited = await run('schedules', 'edit', 't_1/nightly', '--cron', '0 3 * * *')
    expect(edited.out).toMatch(/^edited t_1\/nightly: Every day at 03:00/)
    expect(await app.schedules.get('t_1', 'nightly')).toMatchObject({ cron: '0 3 * * *', tags: ['finance'] })
  })

  it('are triggered, run afterwards and changed in bulk', async () => {
    const { run, app } = place
    const now = Date.now()
    await app.schedules.upsert({ key: 'by-hand', cron: '0 0 1 1 *', job: 'plain' })
    await app.schedules.upsert({ key: 'hourly', every: '1h', job: 'plain' })
    for (const key of ['a', 'b'])
      await app.schedules.upsert({
        workspace: 't_3',
        key,
        every: '1h',
        job: 'plain',
        tags: key === 'a' ? ['mail'] : [],
      })
    const where = ['--where', 'tag=mail', 'workspace=t_3']
    const [triggered, filled, bulk] = await Promise.all([
      run('trigger', 'by-hand'),
      run('backfill', 'hourly', '--from', hoursAgo(now, 9), '--to', hoursAgo(now, 6), '--yes'),
      run('schedules', 'pause', ...where, '--yes', '--detach'),
    ])
    const op = bulk.out.trim()
    expect(filled).toMatchObject({ code: 0, out: '✓4 of 4\n' })
    const [fills, watched] = await Promise.all([run('backfill', 'ls', 'hourly', '--json'), run('ops', 'watch', op)])
    expect(watched).toMatchObject({ code: 0, out: '1 done\n' })
    expect((await app.schedules.get('t_3', 'a'))!.paused).not.toBeNull()
    expect((await app.schedules.get('t_3', 'b'))!.paused).toBeNull()
    const [fill, ...more] = JSON.parse(fills.out)
    expect(more).toEqual([])
    const [again, ended, ops, cancelled] = await Promise.all([
      run('backfill', 'watch', fill.id),
      run('backfill', 'cancel', fill.id),
      run('ops', 'ls', '--json', 'id,state,done'),
      run('ops', 'cancel', op),
    ])
    expect(again).toMatchObject({ code: 0, out: '✓4 of 4\n' })
    expect(ended.out).toBe(`${fill.id} is done\n`)
    expect(JSON.parse(ops.out)).toEqual([{ id: op, state: 'done', done: 1 }])
    expect(cancelled.out).toBe(`${op} is done\n`)
    await expect.poll(async () => (await app.runs.get(triggered.out.trim()))?.state, PATIENT).toBe('succeeded')
  })
})

describe('schedules on a server', () => {
  it('are made, listed, shown, changed and removed', async () => {
    const { run } = server
    const nightly = ['schedules', 'create', 't_1/nightly', '--job', 'plain', '--cron', '30 2 * * *']
    const zone = ['--tz', 'Europe/Berlin', '--tag', 'finance', '--tag', 'daily']
    const tried = await run(...nightly, ...zone, '--dry-run')
    expect(tried).toMatchObject({
      code: 0,
      out: expect.stringContaining('would create t_1/nightly: Every day at 02:30'),
    })
    expect(await server.app.schedules.get('t_1', 'nightly')).toBeNull()
    const made = await run(...nightly, ...zone)
    expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^created t_1\/nightly: .*next in/) })
    expect(made.err).toContain('does not exist')

    const change = ['schedules', 'edit', 't_1/nightly', '--cron', '0 3 * * *', '--timeout', '10m']
    const [again, listed, picked, other, shown, proposed] = await Promise.all([
      run(...nightly),
      run('schedules', 'ls', 'workspace:t_1', 'tag:finance', 'night'),
      run('schedules', 'ls', 'workspace:t_1', '--json', 'key,tags'),
      run('schedules', 'ls', 'tag:mail'),
      run('schedules', 'get', 'nightly@t_1', '--json'),
      run(...change, '--dry-run'),
    ])
    expect(again).toMatchObject({ code: 3, err: expect.stringContaining('SCHEDULE_EXISTS') })
    expect(listed.out.split('\t')).toEqual(
      ['nightly', 't_1', 'Every day at 02:30 Europe/Berlin', expect.stringMatching(/^\d{4}-.*Z$/), '··········', 'active\n'], // biome-ignore format: one row
    )
    expect(JSON.parse(picked.out)).toEqual([{ key: 'nightly', tags: ['finance', 'daily'] }])
    expect(other).toMatchObject({ code: 0, out: '', err: 'no matching schedules\n' })
    expect(JSON.parse(shown.out)).toMatchObject({ key: 'nightly', workspace: 't_1', revision: 1, lastFiredAt: null })

    expect(proposed.out).toMatch(/would edit t_1\/nightly\n.*cron {2}30 2 \* \* \* → 0 3 \* \* \*\n.*timeout/)
    expect((await run(...change)).out).toMatch(/^edited t_1\/nightly: Every day at 03:00/)
    expect(
      (await run('schedules', 'edit', 't_1/nightly', '--unset', 'timeout', '--json', 'revision,timeout')).out,
    ).toBe('{"revision":3,"timeout":"1h"}\n')
    const [unsure, only] = await Promise.all([
      run('schedules', 'rm', 't_1/nightly'),
      run('schedules', 'rm', 't_1/nightly', '--dry-run'),
    ])
    expect(unsure).toMatchObject({ code: 2, err: expect.stringContaining('--yes') })
    expect(only.out).toBe('would rm t_1/nightly\n')
    expect(await run('schedules', 'rm', 't_1/nightly', '--yes')).toMatchObject({
      code: 0,
      out: 'removed t_1/nightly\n',
    })
    expect(await run('schedules', 'get', 't_1/nightly')).toMatchObject({
      code: 3,
      err: expect.stringContaining('NOT_FOUND'),
    })
  })

  it('are paused and resumed by name, and all or none of those that are named', async () => {
    const { run, app } = server
    for (const key of ['a', 'b']) await app.schedules.upsert({ workspace: 't_2', key, every: '1h', job: 'plain' })
    expect((await run('schedules', 'pause', 't_2/a', 't_2/c')).code).toBe(3)
    expect((await app.schedules.get('t_2', 'a'))!.paused).toBeNull()
    const { out } = await run('schedules', 'pause', 't_2/a', 't_2/b', '--reason', 'vendor outage')
    expect(out).toBe('paused t_2/a\npaused t_2/b\n')
    expect((await app.schedules.get('t_2', 'a'))!.paused).toMatchObject({ reason: 'vendor outage' })
    expect((await run('schedules', 'resume', 't_2/a')).code).toBe(0)
    const paused = await run('schedules', 'ls', 'workspace:t_2', 'paused:true')
    expect(paused.out).toMatch(/^b\t.*\tpaused\n$/)
  })

  it('are changed in bulk, after it was said that this is meant', async () => {
    const { run, app } = server
    for (const key of ['a', 'b', 'c'])
      await app.schedules.upsert({
        workspace: 't_3',
        key,
        every: '1h',
        job: 'plain',
        tags: key === 'c' ? [] : ['mail'],
      })
    const where = ['--where', 'tag=mail', 'workspace=t_3']
    const [tried, unsure] = await Promise.all([
      run('schedules', 'pause', ...where, '--dry-run'),
      run('schedules', 'pause', ...where),
    ])
    expect(tried).toMatchObject({ out: 'would pause t_3/a\nwould pause t_3/b\n', err: '2 schedules would be paused\n' })
    expect(unsure.code).toBe(2)
    expect(await run('schedules', 'pause', ...where, '--yes')).toMatchObject({ code: 0, out: 'paused 2 schedules\n' })
    expect((await app.schedules.get('t_3', 'b'))!.paused).not.toBeNull()
    expect((await app.schedules.get('t_3', 'c'))!.paused).toBeNull()
    const edited = await run('schedules', 'edit', '--where', 'workspace=t_3', '--jitter', '5m', '--yes', '--detach')
    expect(edited.err).toContain(`everytick ops watch ${edited.out.trim()}`)
    expect(await run('ops', 'watch', edited.out.trim())).toMatchObject({ code: 0, out: '3 done\n' })
    expect(JSON.stringify((await app.schedules.get('t_3', 'c'))!.jitter)).toContain('5m')
    const [ops, cancelled] = await Promise.all([
      run('ops', 'ls', '--json', 'id,state,done'),
      run('ops', 'cancel', edited.out.trim()),
    ])
    expect(JSON.parse(ops.out)[0]).toEqual({ id: edited.out.trim(), state: 'done', done: 3 })
    expect(cancelled.out).toBe(`${edited.out.trim()} is done\n`)
  })

  it('are triggered; the id of the run goes into the pipe', async () => {
    const { run, app } = server
    await app.schedules.upsert({ key: 'by-hand', cron: '0 0 1 1 *', job: 'plain' })
    const [tried, nobody, made] = await Promise.all([
      run('trigger', 'by-hand', '--dry-run'),
      run('trigger', 'nobody'),
      run('trigger', 'by-hand'),
    ])
    expect([tried.out, nobody.code]).toEqual(['would trigger by-hand\n', 3])
    await expect.poll(async () => (await app.runs.get(made.out.trim()))?.state, PATIENT).toBe('succeeded')
    expect(await app.runs.list({ schedule: 'by-hand' })).toHaveLength(1)
  })

  it('are run afterwards for a past span, watched or not', async () => {
    const { run, app } = server
    const now = Date.now()
    await app.schedules.upsert({ key: 'hourly', every: '1h', job: 'plain' })
    await app.schedules.upsert({ key: 'broken', every: '1h', job: 'failing' })
    const span = ['--from', hoursAgo(now, 9), '--to', hoursAgo(now, 6)]
    const [tried, asked, failing] = await Promise.all([
      run('backfill', 'hourly', ...span, '--dry-run', '--json'),
      run('backfill', 'hourly', ...span),
      run('backfill', 'broken', ...span, '--yes'),
    ])
    expect(JSON.parse(tried.out)).toMatchObject({ toRun: 4, kept: 0 })
    expect(failing).toMatchObject({ code: 1, err: expect.stringContaining('4 of 4 failed') })
    expect(asked).toMatchObject({ code: 2, err: expect.stringContaining('4 slots · 4 to run') })
    expect(await run('backfill', 'hourly', ...span, '--yes')).toMatchObject({ code: 0, out: '✓4 of 4\n' })
    const [listed, again] = await Promise.all([
      run('schedules', 'ls', 'hourly'),
      run('backfill', 'hourly', '--from', hoursAgo(now, 10), '--to', hoursAgo(now, 6)),
    ])
    expect(listed.out).toContain('▮▮▮▮······')
    expect(again.err).toContain('5 slots · 4 already ran (kept; --force to rerun) · 1 to run')
    const begun = await run('backfill', 'hourly', ...span, '--force', '--yes', '--detach')
    expect(begun.err).toContain(`everytick backfill watch ${begun.out.trim()}`)
    expect(await run('backfill', 'watch', begun.out.trim())).toMatchObject({ code: 0, out: '✓4 of 4\n' })
    const [fills, ended] = await Promise.all([
      run('backfill', 'ls', 'hourly'),
      run('backfill', 'cancel', begun.out.trim()),
    ])
    expect(fills.out.split('\n')).toHaveLength(3)
    expect(ended.out).toBe(`${begun.out.trim()} is done\n`)
  })
})

describe('schedules on a terminal', () => {
  beforeAll(async () => {
    await server.app.schedules.upsert({ key: 'nightly', cron: '30 2 * * *', job: 'held', overlap: 'allow' })
    // As it was stored before such names were refused.
    await putNew(await coreOf(server.app).store(), { key: 'bad\u202ename', workspace: 't_1', job: 'plain' })
  })

  it('are shown as a table in which nothing can command the terminal', async () => {
    const { shown, ended } = onTerminal(['schedules', 'ls', ...server.where])
    expect(await ended).toBe(0)
    expect(shown()).toMatch(/KEY +WORKSPACE +WHEN +NEXT +LAST 10 +STATE/)
    expect(shown()).toMatch(/nightly +- +Every day at 02:30 UTC +in \d+.* +·{10} +active/)
    expect(shown()).toContain('bad\\u{202e}name')
  })

  it('are left alone when the answer is no', async () => {
    const { shown, type, ended } = onTerminal(['schedules', 'rm', 'nightly', ...server.where])
    await expect.poll(shown, PATIENT).toContain('remove nightly · Continue? [y/N]')
    type('n\n')
    expect(await ended).toBe(1)
    expect(shown()).toContain('nothing was changed')
    expect(await server.app.schedules.get('default', 'nightly')).not.toBeNull()
  })

  it('show a bar while they are run afterwards; ctrl-c leaves it and says how to go on', async () => {
    const now = new Date().toISOString().slice(0, 10)
    const from = new Date(Date.parse(now) - 6 * 24 * HOUR).toISOString()
    const command = ['backfill', 'nightly', '--from', from, '--to', now, '--concurrency', '2', ...server.where]
    const { shown, type, ended } = onTerminal(command)
    await expect.poll(shown, PATIENT).toContain('6 slots · 6 to run · Continue? [y/N]')
    type('y\n')
    await expect.poll(shown, PATIENT).toMatch(/░{18} {2}0\/6 {2}✓0 {2}running 2 .*\(ctrl-c detaches\)/)
    type('\u0003')
    expect(await ended).toBe(0)
    const [, id] = /detached; the backfill continues\. To watch it again: everytick backfill watch (\S+)/.exec(shown())!
    const cancelled = await server.run('backfill', 'cancel', id!)
    expect(cancelled.out).toBe(`cancelled ${id}\n`)
    expect(await server.run('backfill', 'watch', id!)).toMatchObject({
      code: 1,
      err: expect.stringContaining('was cancelled'),
    })
  })
})

describe('commands on schedules refuse', () => {
  it.concurrent.each([
    ['what is nowhere', ['schedules', 'ls'], 2, 'No server or database given'],
    [
      'a server that is not there',
      ['schedules', 'ls', '--url', 'http://127.0.0.1:9'],
      1,
      'cannot reach http://127.0.0.1:9',
    ],
  ])('%s', async (_, args, code, text) => {
    expect(await runProgram(args)).toMatchObject({ code, err: expect.stringContaining(text) })
  })

  it.concurrent.each([
    ['a backfill without its span', ['backfill', 'x'], 2, '--from and --to'],
    ['words that mean nothing', ['schedules', 'ls', 'status:failing'], 2, 'Unknown filter'],
    ['a payload that is not JSON', ['trigger', 'x', '--payload', '{'], 2, 'not valid JSON'],
    ['a change of nothing', ['schedules', 'edit', 'x'], 2, 'nothing to change'],
    ['no name and no --where', ['schedules', 'pause'], 2, 'no schedule given'],
  ])('%s', async (_, args, code, text) => {
    expect(await server.run(...args)).toMatchObject({ code, err: expect.stringContaining(text) })
  })

  it('what the server refuses: a wrong key, a cron that cannot be read, a field that there is not', async () => {
    const [, url] = server.where
    const create = ['schedules', 'create', 'x', '--job', 'plain', '--cron', '0 25 * * *']
    await server.app.schedules.upsert({ key: 'y', every: '1h', job: 'plain' })
    const [stranger, made, tried, field] = await Promise.all([
      runProgram(['schedules', 'ls', '--url', url!, '--token', 'evt_op_wrong']),
      server.run(...create),
      server.run(...create, '--dry-run'),
      server.run('schedules', 'get', 'y', '--json', 'nope'),
    ])
    expect(stranger.code).toBe(4)
    for (const each of [made, tried])
      expect(each).toMatchObject({ code: 2, err: expect.stringContaining('CRON_RANGE') })
    expect(field).toMatchObject({ code: 2, err: expect.stringContaining('nope') })
  })
})
