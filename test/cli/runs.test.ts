/** `everytick runs`, by the built program: every command on both stores, and against a server in all detail. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt } from '../built-package.ts'
import { onTerminal, openPlace, PLACES, type Place } from './places.ts'

const NOBODY = '0190a0f0-0000-7000-8000-000000000000'

beforeAll(ensureBuilt)

const PATIENT = { timeout: 20_000 }

const STORES = PLACES.filter((name) => name !== 'a server')

let place: Place
const ended = (id: string) => expect.poll(async () => (await place.app.runs.get(id))?.state, PATIENT)
const fenceOf = async (id: string): Promise<number> => (await place.app.runs.get(id))!.fence
async function made(job: string, workspace: string): Promise<string> {
  await place.app.schedules.upsert({ workspace, key: `of-${job}`, cron: '0 0 1 1 *', job, overlap: 'allow' })
  return (await place.app.schedules.trigger(workspace, `of-${job}`, { overlap: 'allow' })).id
}

describe.each(STORES)('runs in %s', (name) => {
  beforeAll(async () => {
    place = await openPlace(name)
  })
  afterAll(() => place[Symbol.asyncDispose]())

  it('are listed, shown, followed, cancelled and retried', async () => {
    const { run } = place
    const wanted = [made('plain', 't_1'), made('failing', 't_1'), made('failing', 't_3'), made('held', 't_2')] as const
    const [good, bad, worse, leased] = await Promise.all(wanted)
    await ended(good).toBe('succeeded')
    for (const id of [bad, worse]) await ended(id).toBe('failed')
    await ended(leased).toBe('running')
    const following = run('runs', 'logs', leased, '--follow')
    const [failed, shown, nobody] = await Promise.all([
      run('runs', 'ls', 'status:failed', 'schedule:t_1/of-failing', '--json', 'id,state'),
      run('runs', 'get', good, '--json'),
      run('runs', 'get', NOBODY),
    ])
    expect(JSON.parse(failed.out)).toEqual([{ id: bad, state: 'failed' }])
    expect(JSON.parse(shown.out)).toMatchObject({ id: good, result: { sent: 3 } })
    expect(nobody.code).toBe(3)
    const [cancelled, retried, bulkRetried] = await Promise.all([
      run('runs', 'cancel', leased),
      run('runs', 'retry', bad),
      run('runs', 'retry', '--where', 'workspace=t_3', 'schedule=of-failing', '--yes'),
    ])
    expect(cancelled.out).toMatch(new RegExp(`^(stopping|cancelled) ${leased}\n$`))
    expect((await following).out).toContain('began')
    await ended(leased).toBe('cancelled')
    expect(retried.out).toBe(`retried ${bad}\n`)
    expect(bulkRetried).toMatchObject({ code: 0, out: 'retried 1 run\n' })
    for (const id of [bad, worse]) await expect.poll(() => fenceOf(id), PATIENT).toBe(2)
  })
})

describe('runs on a server', () => {
  beforeAll(async () => {
    place = await openPlace('a server')
  })
  afterAll(() => place[Symbol.asyncDispose]())

  it('are listed with what was missed, as ranges', async () => {
    const { run, app } = place
    await app.schedules.upsert({ workspace: 't_9', key: 'past', at: '2020-01-01T00:00:00Z', job: 'plain' })
    const missed = async (): Promise<string> => (await run('runs', 'ls', 'status:missed', 'workspace:t_9')).out
    await expect
      .poll(missed, PATIENT)
      .toMatch(/^-\s+missed\s+plain\s+t_9\s+past\s+2020-01-01T00:00:00Z?\S*\s+-\s+×1\s+window/m)
  })

  it('are listed, shown and read', async () => {
    const { run } = place
    const [good, bad] = await Promise.all([made('plain', 't_1'), made('failing', 't_1')])
    await ended(good).toBe('succeeded')
    await ended(bad).toBe('failed')
    const [failed, ofSchedule, shown, said, followed, attempts] = await Promise.all([
      run('runs', 'ls', 'status:failed', 'workspace:t_1'),
      run('runs', 'ls', 'schedule:t_1/of-plain', '--json', 'id,state'),
      run('runs', 'get', good, '--json'),
      run('runs', 'logs', good),
      run('runs', 'logs', '-f', good, '--json'),
      run('runs', 'get', bad),
    ])
    const row = failed.out.trimEnd().split('\t')
    expect([row[0], row[1], row[2], row[4], row[7], row[8]]).toEqual(
      [bad, 'failed', 'failing', 'of-failing', '1/1', 'it fails \\u{1b}[31malways'], // biome-ignore format: one row
    )
    expect(JSON.parse(ofSchedule.out)).toEqual([{ id: good, state: 'succeeded' }])
    expect(JSON.parse(shown.out)).toMatchObject({ id: good, result: { sent: 3 } })
    expect(said.out).toMatch(/Z\tinfo\t1\thello\t{"from":"plain"}\n$/)
    expect(JSON.parse(followed.out)).toMatchObject({ level: 'info', message: 'hello', data: { from: 'plain' } })
    expect(attempts.out).toContain('state\tfailed\n')
  })

  it('are followed while they run, and cancelled', async () => {
    const { run } = place
    const id = await made('held', 't_2')
    await ended(id).toBe('running')
    const following = run('runs', 'logs', id, '--follow')
    expect((await run('runs', 'cancel', id, '--dry-run')).out).toBe(`would cancel ${id}\n`)
    expect((await run('runs', 'cancel', id)).out).toMatch(new RegExp(`^(stopping|cancelled) ${id}\n$`))
    expect((await following).out).toContain('began')
    await ended(id).toBe('cancelled')
    expect((await run('runs', 'cancel', id)).out).toBe(`cancelled ${id}\n`)
  })

  it('are retried by id and by what fits', async () => {
    const { run } = place
    const ids = [await made('failing', 't_3'), await made('failing', 't_3')]
    for (const id of ids) await ended(id).toBe('failed')
    const fences = () => Promise.all(ids.map(fenceOf))
    expect((await run('runs', 'retry', ids[0]!, '--dry-run')).out).toBe(`would retry ${ids[0]}\n`)
    expect(await fences()).toEqual([1, 1])
    expect((await run('runs', 'retry', ids[0]!)).out).toBe(`retried ${ids[0]}\n`)
    await expect.poll(fences, PATIENT).toEqual([2, 1])
    await ended(ids[0]!).toBe('failed')
    const where = ['--where', 'workspace=t_3', 'schedule=of-failing']
    const [tried, unsure] = await Promise.all([
      run('runs', 'retry', ...where, '--dry-run'),
      run('runs', 'retry', ...where),
    ])
    expect([tried.out.trim().split('\n').sort(), tried.err]).toEqual([
      ids.map((id) => `would retry ${id}`).sort(),
      '2 runs would be retried\n',
    ])
    expect(unsure.code).toBe(2)
    expect(await run('runs', 'retry', ...where, '--yes')).toMatchObject({ code: 0, out: 'retried 2 runs\n' })
    await expect.poll(fences, PATIENT).toEqual([3, 2])
    for (const id of ids) await ended(id).toBe('failed')
  })

  it('are deleted when they have finished, and none of them while one has not', async () => {
    const { run, app } = place
    const [done, leased] = [await made('plain', 't_5'), await made('held', 't_5')]
    await ended(done).toBe('succeeded')
    await ended(leased).toBe('running')
    const refused = await run('runs', 'rm', done, leased)
    expect([refused.code, refused.err]).toEqual([3, expect.stringContaining('only finished runs can be deleted')])
    expect((await run('runs', 'rm', done, '--dry-run')).out).toBe(`would delete ${done}\n`)
    expect((await app.runs.get(done))?.state).toBe('succeeded')
    expect(await run('runs', 'rm', done)).toMatchObject({ code: 0, out: `deleted ${done}\n` })
    expect(await app.runs.get(done)).toBeNull()
    await run('runs', 'cancel', leased)
  })

  it('that are not there, or not failed, end with exit 3', async () => {
    const { run } = place
    const good = await made('plain', 't_4')
    const wrong = [run('runs', 'get', 'x'), run('runs', 'retry'), run('runs', 'ls', 'text')]
    expect((await Promise.all(wrong)).map(({ code }) => code)).toEqual([3, 2, 2])
    await ended(good).toBe('succeeded')
    const endings = await Promise.all([
      run('runs', 'get', NOBODY),
      run('runs', 'logs', NOBODY),
      run('runs', 'retry', good),
      run('ops', 'watch', NOBODY),
      run('backfill', 'watch', NOBODY),
    ])
    expect(endings.map(({ code }) => code)).toEqual([3, 3, 3, 3, 3])
    expect(endings[2]!.err).toContain('RUN_NOT_FAILED')
  })

  it('are shown on a terminal as a table, and bulk work asks first', async () => {
    await place.app.schedules.upsert({ key: 'held', cron: '0 0 1 1 *', job: 'held' })
    const { id } = await place.app.schedules.trigger('default', 'held')
    await ended(id).toBe('running')
    const table = onTerminal(['runs', 'ls', ...place.where])
    const asking = onTerminal(['runs', 'cancel', '--where', 'all', ...place.where])
    expect(await table.ended).toBe(0)
    expect(table.shown()).toMatch(/ID +STATE +JOB +WORKSPACE +SCHEDULE +DUE +TOOK +TRY +ERROR/)
    expect(table.shown()).toMatch(new RegExp(` ${id.slice(0, 8)}\\S* +running +held +- +held +\\S+`))
    await expect.poll(asking.shown, PATIENT).toContain('1 run to be cancelled · Continue? [y/N]')
    asking.type('y\n')
    expect(await asking.ended).toBe(0)
    expect(asking.shown()).toContain('cancelled 1 run')
    await ended(id).toBe('cancelled')
  })
})
