/** Backfills as the engine drives them: in order, as many at once as asked for, across crashes, and not without their schedule. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defineJob, schedule } from '../../src/index.ts'
import { createTestEverytick, type TestEverytick } from '../../src/testing/test-everytick.ts'

let t: TestEverytick
let seen: string[]
let wait: (() => void)[]
let slow: boolean
beforeEach(async () => {
  seen = []
  wait = []
  slow = false
  const job = defineJob({
    name: 'job',
    run: ({ run }) => {
      if (run.trigger !== 'backfill') return
      seen.push(run.scheduledAt!.toISOString().slice(11, 16))
      if (slow) return new Promise<void>((resolve) => wait.push(resolve))
    },
  })
  t = await createTestEverytick({
    now: '2027-01-01T06:00:30Z',
    jobs: [job],
    schedules: [schedule({ key: 'hourly', every: '1h', job })],
  })
  await t.advance('2h')
})
afterEach(async () => {
  await t[Symbol.asyncDispose]()
})

const at = (hour: string): number => Date.parse(`2027-01-01T${hour}:00Z`)

async function begin(more: { concurrency?: number; force?: boolean } = {}) {
  const { id: scheduleId } = (await t.app.schedules.get('default', 'hourly'))!
  await t.store.backfills.create({
    ...{ id: 'b-1', scheduleId, workspace: 'default', key: 'hourly', by: 'ana' },
    ...{ fromAt: at('03:00'), toAt: at('08:00'), concurrency: 1, force: false, payload: null, total: 6, ...more },
  })
}

describe('a backfill', () => {
  it('makes good what did not run, in order, and leaves alone what did', async () => {
    await begin()
    await t.advance('1s')
    expect(seen).toEqual(['03:00', '04:00', '05:00', '06:00'])
    expect(await t.store.backfills.get('b-1')).toMatchObject({
      state: 'done',
      made: 4,
      kept: 2,
      succeeded: 4,
      open: [],
    })
  })

  it('has no more runs unfinished than it may', async () => {
    slow = true
    await begin({ concurrency: 2 })
    await t.advance('1m')
    expect(seen).toHaveLength(2)
    wait[0]!()
    await t.advance('1s')
    expect(seen).toHaveLength(3)
    expect(await t.store.backfills.get('b-1')).toMatchObject({ state: 'running', made: 3, succeeded: 1 })
  })

  it('goes on after a crash where it was', async () => {
    slow = true
    await begin({ force: true })
    await t.advance('1s')
    await t.crash()
    slow = false
    await t.advance('1m')
    await t.advance('1m')
    expect(seen).toEqual(['03:00', '03:00', '04:00', '05:00', '06:00', '07:00', '08:00'])
    expect(await t.store.backfills.get('b-1')).toMatchObject({ state: 'done', made: 6, succeeded: 6 })
  })

  it('ends with its schedule', async () => {
    slow = true
    await begin()
    await t.advance('1s')
    await t.app.schedules.remove('default', 'hourly')
    wait[0]!()
    await t.advance('2s')
    expect(await t.store.backfills.get('b-1')).toMatchObject({ state: 'cancelled', made: 1 })
  })
})
