/** `app.audit`: every occurrence is accounted for once, and what is not is found, on real stores and a clock that the test moves. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { defineJob, schedule } from '../../src/index.ts'
import { openDatabase } from '../../src/store/sqlite/driver.ts'
import { openSqlite } from '../../src/store/sqlite/store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { createTestEverytick, startedIn, type TestEverytick } from '../../src/testing/test-everytick.ts'

const noop = defineJob({ name: 'noop', run: () => {} })
const NOW = '2027-05-01T00:00:30Z'
const minutely = { key: 'minutely', every: '1m', job: noop } as const
const start = (schedules = [schedule(minutely)]): Promise<TestEverytick> =>
  createTestEverytick({ now: NOW, jobs: [noop], schedules })

const CLEAN = { ok: true, lostCount: 0, doubledCount: 0, unexplainedCount: 0, lost: [], doubled: [], unexplained: [] }

describe('an audit', () => {
  it('accounts for runs, for what a pause kept from running, and for what is not planned yet', async () => {
    await using t = await start()
    await t.advance('10m')
    await t.app.schedules.pause('default', 'minutely', { by: 'ana' })
    await t.advance('10m')
    expect(await t.app.audit()).toMatchObject({
      ...CLEAN,
      schedules: 1,
      expected: 10,
      runs: 10,
      nonRuns: 0,
      pending: 10,
    })
    await t.app.schedules.resume('default', 'minutely')
    await t.advance('5m')
    const report = await t.app.audit()
    expect(report).toMatchObject({ ...CLEAN, expected: 25, runs: 15, nonRuns: 10, pending: 0, backfills: 0 })
    expect(report.to).toEqual(new Date(t.clock.now()))
    expect(report.to.getTime() - report.from.getTime()).toBe(86_400_000)
  })

  it('follows edits, outages and clock changes', async () => {
    await using t = await createTestEverytick({ now: '2027-03-27T22:30:30Z', jobs: [noop] })
    const nightly = {
      key: 'nightly',
      cron: '30 * * * *',
      timezone: 'Europe/Berlin',
      dst: { gap: 'skip' },
      job: noop,
    } as const
    await t.app.schedules.upsertMany([nightly, { ...minutely, catchUp: 'none' }])
    await t.advance('20m')
    await t.crash()
    await t.advance('2h')
    await t.app.schedules.upsert({ ...minutely, every: '7m', catchUp: 'none' })
    await t.advance('5h')
    const report = await t.app.audit()
    expect(report).toMatchObject({ ...CLEAN, schedules: 2, pending: 0 })
    expect(report.nonRuns).toBeGreaterThan(100)
    expect(report.runs + report.nonRuns).toBe(report.expected)
  })

  it('looks only where it is told to', async () => {
    await using t = await start()
    await t.app.schedules.upsert({ ...minutely, workspace: 't_42' })
    await t.advance('10m')
    expect(await t.app.audit({ workspace: 't_42' })).toMatchObject({ schedules: 1, expected: 10 })
    expect(await t.app.audit({ schedule: 'minutely' })).toMatchObject({ schedules: 1, expected: 10 })
    const span = { from: '2027-05-01T00:02:00Z', to: '2027-05-01T00:05:00Z' }
    expect(await t.app.audit(span)).toMatchObject({ schedules: 2, expected: 6, pending: 0 })
    const seen: number[] = []
    await t.app.audit({ onProgress: ({ schedules }) => seen.push(schedules) })
    expect(seen).toEqual([2])
  })

  it('names a schedule whose timing it cannot read, and is then not well', async () => {
    await using t = await start()
    const stored = (await t.store.schedules.get('default', 'minutely'))!
    const timing = { kind: 'cron', cron: '0 0 * * *', timezone: 'Mars/Olympus' } as const
    const put = { id: stored.id, definition: { ...stored, key: 'martian', timing }, nextAt: null, watermarkAt: 0 }
    await t.store.schedules.put([{ ...put, id: '0190163d-8694-739b-aea5-966c26f8ad90', from: null, by: 'newer' }])
    await t.advance('2m')
    expect(await t.app.audit()).toMatchObject({
      ok: false,
      schedules: 2,
      expected: 2,
      unreadable: ['schedule "martian"'],
    })
  })

  it('refuses what it cannot know, and what it does not understand', async () => {
    await using t = await start()
    await expect(t.app.audit({ from: '2027-03-01T00:00:00Z' })).rejects.toMatchObject({
      code: 'OPTION_INVALID',
      message: expect.stringContaining('retention is 30d'),
      hint: expect.stringContaining('retention.history'),
    })
    const reversed = { from: '2027-05-01T00:00:20Z', to: '2027-05-01T00:00:10Z' }
    await expect(t.app.audit(reversed)).rejects.toMatchObject({ code: 'OPTION_INVALID' })
    await expect(t.app.audit({ schedule: 'weekly' })).rejects.toMatchObject({ code: 'SCHEDULE_NOT_FOUND' })
    await expect(t.app.audit({ since: NOW } as never)).rejects.toMatchObject({ code: 'OPTION_UNKNOWN' })
  })

  it('by default looks back no further than records are kept', async () => {
    await using t = await createTestEverytick({ now: NOW, jobs: [noop], retention: { history: '10m', journal: '20m' } })
    await t.app.schedules.upsert(minutely)
    await t.advance('1h')
    const report = await t.app.audit()
    expect(report).toMatchObject(CLEAN)
    expect(report.expected).toBeGreaterThan(4)
  })
})

describe('behind the back of the store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'everytick-audit-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  let files = 0

  async function tampered(sql: string) {
    const path = join(folder, `${++files}.db`)
    const clock = fakeClock(Date.parse(NOW))
    const store = await openSqlite({ path, clock })
    await using t = await startedIn({ store, clock }, { jobs: [noop], schedules: [schedule(minutely)] })
    await t.advance('10m')
    expect(await t.app.audit()).toMatchObject({ ...CLEAN, expected: 10, runs: 10 })
    const database = await openDatabase(path)
    database.exec(sql.replaceAll('{slot}', String(Date.parse('2027-05-01T00:05:00Z'))))
    database.close()
    const report = await t.app.audit()
    return report
  }
  const slot = { workspace: 'default', key: 'minutely', at: new Date('2027-05-01T00:05:00Z') }

  it('a run that vanished is lost', async () => {
    expect(await tampered('delete from everytick_history where scheduled_at = {slot}')).toMatchObject({
      ...{ ...CLEAN, ok: false, expected: 10, runs: 9, lost: [slot], lostCount: 1 },
    })
  })

  it('a run that was made twice is doubled', async () => {
    const twice = `
      create temporary table twin as select * from everytick_history where scheduled_at = {slot};
      update twin set id = '00000000-0000-4000-8000-000000000000';
      insert into everytick_history select * from twin`
    expect(await tampered(twice)).toMatchObject({
      ...{ ...CLEAN, ok: false, expected: 10, runs: 10, doubled: [slot], doubledCount: 1 },
    })
  })

  it('a run that was moved off its instant leaves one lost and one unexplained', async () => {
    const moved = 'update everytick_history set scheduled_at = scheduled_at + 1000 where scheduled_at = {slot}'
    const at = new Date('2027-05-01T00:05:01Z')
    expect(await tampered(moved)).toMatchObject({
      ok: false,
      lost: [slot],
      unexplained: [{ ...slot, at }],
      doubledCount: 0,
    })
  })

  it('a record that says too much is doubled, or unexplained', async () => {
    const insert = `insert into everytick_non_runs (schedule_id, from_at, to_at, count, state, reason, recorded_at, detail)
      select id, {slot}, {slot}, COUNT, 'skipped', 'paused', {slot}, '' from everytick_schedules`
    expect(await tampered(insert.replace('COUNT', '1'))).toMatchObject({ doubled: [slot], unexplainedCount: 0 })
    expect(await tampered(insert.replace('COUNT', '3'))).toMatchObject({ unexplained: [slot] })
  })
})
