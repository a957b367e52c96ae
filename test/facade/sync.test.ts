/** Schedules in code: what a start does to the stored ones, and what it leaves alone. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type DeclaredSchedule, defineJob, type Everytick, everytick, schedule } from '../../src/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'everytick-sync-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let file = 0
beforeEach(() => void file++)

const noop = defineJob({ name: 'noop', run: () => {} })
const strict = defineJob({ name: 'strict', payload: z.object({ id: z.string() }), run: () => {} })
const first = schedule({ key: 'first', every: '1h', job: noop })
const second = schedule({ key: 'second', every: '2h', job: noop })

/** One deploy: an app on the file of this test, synced, looked at and stopped. */
async function deploy<T>(
  { schedules, name }: { schedules: readonly DeclaredSchedule[]; name?: string },
  look: (app: Everytick) => Promise<T>,
): Promise<T> {
  const store = `sqlite:${join(folder, `${file}.db`)}`
  await using app = everytick({ store, jobs: [noop, strict], schedules, ...(name === undefined ? {} : { name }) })
  return await look(app)
}
const states = async (app: Everytick): Promise<unknown[]> =>
  (await app.schedules.list()).map(({ key, source, paused }) => [key, source, paused?.reason ?? null])

describe('a sync', () => {
  it('stores what is new, changes what differs, and leaves alone what is the same', async () => {
    const report = await deploy({ schedules: [first, second] }, (app) => app.sync())
    expect(report).toEqual({ created: 2, changed: 0, unchanged: 0, orphaned: [] })
    const slower = schedule({ key: 'second', every: '3h', job: noop })
    const again = await deploy({ schedules: [first, slower] }, (app) => app.sync())
    expect(again).toEqual({ created: 0, changed: 1, unchanged: 1, orphaned: [] })
  })

  it('pauses what is no longer in code, says so, and takes it back when it returns', async () => {
    await deploy({ schedules: [first, second] }, (app) => app.sync())
    const { report, after } = await deploy({ schedules: [first] }, async (app) => ({
      report: await app.sync(),
      after: await states(app),
    }))
    expect(report.orphaned).toEqual(['default/second'])
    expect(after).toEqual([
      ['first', 'code', null],
      ['second', 'code', 'orphan: no longer in code'],
    ])
    expect((await deploy({ schedules: [first] }, (app) => app.sync())).orphaned).toEqual([])
    const back = await deploy({ schedules: [first, second] }, async (app) => {
      await app.sync()
      return states(app)
    })
    expect(back).toEqual([
      ['first', 'code', null],
      ['second', 'code', null],
    ])
  })

  it("keeps an operator's pause, whether the schedule stays in code, leaves it or returns", async () => {
    await deploy({ schedules: [first] }, async (app) => {
      await app.sync()
      await app.schedules.pause('default', 'first', { reason: 'incident 7', by: 'ana' })
    })
    for (const schedules of [[first], [], [first]]) {
      const after = await deploy({ schedules }, async (app) => {
        await app.sync()
        return states(app)
      })
      expect(after).toEqual([['first', 'code', 'incident 7']])
    }
  })

  it('leaves alone what callers made, and what an app of another name made', async () => {
    await deploy({ schedules: [first], name: 'billing' }, async (app) => {
      await app.sync()
      await app.schedules.upsert({ key: 'by-hand', every: '1h', job: noop })
    })
    const after = await deploy({ schedules: [second], name: 'mail' }, async (app) => {
      await app.sync()
      return states(app)
    })
    expect(after).toEqual([
      ['by-hand', 'api', null],
      ['first', 'code:billing', null],
      ['second', 'code:mail', null],
    ])
  })

  it('fails before anything changes when one payload does not fit its schema', async () => {
    await deploy({ schedules: [first, second] }, (app) => app.sync())
    const bad = schedule({ key: 'bad', every: '1h', job: 'strict', payload: { id: 5 } })
    const slower = schedule({ key: 'first', every: '9h', job: noop })
    await deploy({ schedules: [slower, bad] }, async (app) => {
      await expect(app.sync()).rejects.toMatchObject({ code: 'PAYLOAD_INVALID' })
      await expect(app.start()).rejects.toMatchObject({ code: 'PAYLOAD_INVALID' })
      expect(await app.schedules.get('default', 'first')).toMatchObject({ every: '1h' })
      expect(await app.schedules.get('default', 'second')).toMatchObject({ paused: null })
    })
  })

  it('happens at the start of a scheduler and not of a worker', async () => {
    expect(
      await deploy({ schedules: [first] }, async (app) => {
        await app.start({ role: 'worker' })
        return states(app)
      }),
    ).toEqual([])
    expect(
      await deploy({ schedules: [first] }, async (app) => {
        await app.start({ role: 'scheduler' })
        return states(app)
      }),
    ).toEqual([['first', 'code', null]])
  })
})
