/** What handlers log is stored with their run, bounded, in order, and whatever the store does no run is hurt. */
import { afterEach, describe, expect, it } from 'vitest'
import type { JobContext } from '../../src/engine/context.ts'
import { defineJob } from '../../src/index.ts'
import { startedIn, type TestEverytick } from '../../src/testing/test-everytick.ts'
import { PLACES, type Place } from '../policies/places.ts'

const NOW = Date.parse('2027-01-01T00:00:00Z')
const retry = { attempts: 2, backoff: 'fixed', base: '10s', max: '10s' } as const
let place: Place
let t: TestEverytick
afterEach(async () => {
  await t[Symbol.asyncDispose]()
  await place.close()
})

describe.each(Object.entries(PLACES))('on %s, what a handler logs', (_, open) => {
  const runs = async (run: (ctx: JobContext) => unknown): Promise<string> => {
    place = await open(NOW)
    const job = defineJob({ name: 'job', retry, run })
    t = await startedIn(place, { jobs: [job] })
    const { id } = await t.app.enqueue(job)
    await t.advance('1s')
    return id
  }
  const linesOf = (id: string) => t.store.logs.read(id, { limit: 5000 })

  it('is stored with its level, data, attempt and instant, in its order', async () => {
    const id = await runs(({ log, run }) => {
      log.info('begins')
      if (run.attempt === 1) log.error('fails', { error: new TypeError('no rate') })
      if (run.attempt === 1) throw new Error('retry')
      log.debug('sent', { count: 3 })
    })
    await t.advance('1m')
    const lines = await linesOf(id)
    expect(lines.map(({ attempt, level, message }) => [attempt, level, message])).toEqual([
      [1, 'info', 'begins'],
      [1, 'error', 'fails'],
      [2, 'info', 'begins'],
      [2, 'debug', 'sent'],
    ])
    expect(lines[0]).toMatchObject({ runId: id, data: null })
    expect(lines[1]!.data).toMatchObject({ error: { name: 'TypeError', message: 'no rate' } })
    expect(lines[3]!.data).toEqual({ count: 3 })
    expect(lines[0]!.at).toBeGreaterThanOrEqual(NOW)
    // A retry of ten seconds comes after half of it, as chance stands in tests.
    expect(lines[2]!.at - lines[0]!.at).toBeGreaterThanOrEqual(5000)
  })

  it('can be read while it is at work', async () => {
    let finish = (): void => {}
    const id = await runs(({ log }) => {
      log.info('half way')
      return new Promise<void>((resolve) => (finish = resolve))
    })
    expect(await t.store.history.run(id)).toMatchObject({ state: 'running' })
    expect(await linesOf(id)).toMatchObject([{ message: 'half way' }])
    finish()
  })

  it('is cut off with one line that says so, and the run goes on', async () => {
    const id = await runs(({ log }) => {
      for (let i = 0; i < 3000; i += 1) log.info(`line ${i}`)
      return 'done'
    })
    const lines = await linesOf(id)
    expect(lines).toHaveLength(2001)
    expect(lines[1999]).toMatchObject({ level: 'info', message: 'line 1999' })
    expect(lines[2000]).toMatchObject({ level: 'warn', message: expect.stringContaining('the rest was dropped') })
    expect(await t.store.history.run(id)).toMatchObject({ state: 'succeeded', result: 'done' })
  })

  it('may be anything at all', async () => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    const unreadable = Object.create(null) as string
    const odd = [1n, cycle, 'x'.repeat(100_000), Symbol('s'), () => {}, { a: 'a\0b\ud83d' }]
    const id = await runs(({ log }) => {
      for (const data of odd) log.info('a\0b\ud83d', data)
      log.info(unreadable)
      log.info(undefined as unknown as string)
    })
    const lines = await linesOf(id)
    expect(lines).toHaveLength(odd.length + 2)
    expect(lines[0]).toMatchObject({ message: 'a\ufffdb\ufffd', data: { notStored: expect.any(String) } })
    expect(lines[5]).toMatchObject({ data: { a: 'a\ufffdb\ufffd' } })
    expect(await t.store.history.run(id)).toMatchObject({ state: 'succeeded' })
  })

  it('is nothing, and then nothing is stored', async () => {
    const id = await runs(() => 'silent')
    expect(await linesOf(id)).toEqual([])
  })
})
