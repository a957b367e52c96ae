/** Runs made by hand: checked before anything is written, due when they should be, and part of the caller's transaction. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineJob, everytick } from '../../src/index.ts'
import { type Database, openDatabase } from '../../src/store/sqlite/driver.ts'
import { createTestEverytick, type TestEverytick } from '../../src/testing/test-everytick.ts'

const seen: unknown[] = []
const greet = defineJob({
  name: 'greet',
  payload: z.object({ name: z.string().min(1), tags: z.array(z.object({ id: z.number() })).optional() }),
  run: ({ name }) => ({ text: `hello ${name}` }),
})
const order = defineJob({ name: 'order', payload: z.number(), run: (n) => void seen.push(n) })
const bare = defineJob({ name: 'bare', run: () => {} })
const dated = defineJob({ name: 'dated', payload: z.object({ on: z.date() }), run: () => {} })
const late = defineJob({
  name: 'late',
  payload: {
    '~standard': {
      version: 1,
      vendor: 'by hand',
      validate: async (value: unknown) =>
        value === 'good' ? { value: 'GOOD' } : { issues: [{ message: 'is not good', path: [{ key: 'a' }, 'b', 0] }] },
    },
  },
  run: (payload) => String(payload),
})
const start = (): Promise<TestEverytick> =>
  createTestEverytick({ now: '2027-05-01T00:00:00Z', jobs: [greet, order, bare, dated, late], queues: { default: 1 } })

describe('an enqueued run', () => {
  it('is executed, and its result can be waited for', async () => {
    await using t = await start()
    const handle = await t.app.enqueue(greet, { name: 'Ada' })
    expect(handle).toEqual({ id: expect.any(String), created: true })
    await t.advance('1s')
    const run = await t.app.runs.wait(handle)
    expect(run).toMatchObject({ state: 'succeeded', trigger: 'enqueue', schedule: null, result: { text: 'hello Ada' } })
  })

  it('is due after its delay or at its instant, and by priority among those that are due', async () => {
    await using t = await start()
    seen.length = 0
    await t.app.enqueue(order, 5, { at: '2027-05-01T00:30:00Z', priority: 0 })
    await t.app.enqueue(order, 4, { at: new Date('2027-05-01T00:30:00Z'), priority: 9 })
    await t.app.enqueueMany(order, [{ payload: 3, delay: '10m' }, { payload: 2, delay: 60_000 }, { payload: 1 }])
    await t.advance('1h')
    expect(seen).toEqual([1, 2, 3, 4, 5])
  })

  it('of one idempotency key is one run, which later answers with its result', async () => {
    await using t = await start()
    const options = { idempotencyKey: 'order-7' }
    const one = await t.app.enqueue(greet, { name: 'Ada' }, options)
    const two = await t.app.enqueue(greet, { name: 'Bob' }, options)
    expect(two).toEqual({ id: one.id, created: false })
    expect(await t.app.enqueue(greet, { name: 'Cy' }, { ...options, workspace: 't_2' })).toMatchObject({
      created: true,
    })
    await t.advance('1s')
    const three = await t.app.enqueue(greet, { name: 'Dee' }, options)
    expect(three).toEqual({ id: one.id, created: false, result: { text: 'hello Ada' } })
    expect(t.runs({ workspace: 'default' })).toHaveLength(1)
  })
})

describe('a concurrency key', () => {
  const working: string[] = []
  const crm = defineJob({
    name: 'crm',
    concurrencyKey: 'crm',
    payload: z.string(),
    async run(name, ctx) {
      working.push(`+${name}`)
      await new Promise<void>((resolve) => releases.set(name, resolve))
      working.push(`-${name} ${ctx.run.attempt}`)
    },
  })
  const releases = new Map<string, () => void>()
  const begin = async (): Promise<TestEverytick> => {
    working.length = 0
    releases.clear()
    return createTestEverytick({ now: '2027-05-01T00:00:00Z', jobs: [crm], queues: { default: 10 } })
  }

  it('of a job lets its runs go one after another, in the order they were made, however many slots there are', async () => {
    await using t = await begin()
    for (const name of ['a', 'b', 'c']) await t.app.enqueue(crm, name)
    for (const name of ['a', 'b', 'c']) {
      await t.advance('1s')
      expect(working.at(-1)).toBe(`+${name}`)
      releases.get(name)!()
    }
    await t.advance('1s')
    expect(working).toEqual(['+a', '-a 1', '+b', '-b 1', '+c', '-c 1'])
    expect(t.runs().map(({ state, overlap }) => [state, overlap])).toEqual(Array(3).fill(['succeeded', 'queue']))
  })

  it('of a single run stands before that of its job, and holds in its workspace only', async () => {
    await using t = await begin()
    await t.app.enqueue(crm, 'a')
    await t.app.enqueue(crm, 'b', { concurrencyKey: 'other' })
    await t.app.enqueueMany(crm, [
      { payload: 'c', workspace: 't_2' },
      { payload: 'd', concurrencyKey: 'other' },
    ])
    await t.advance('1s')
    expect([...working].sort()).toEqual(['+a', '+b', '+c'])
    expect(t.runs({ state: 'pending' })).toMatchObject([{ payload: 'd', readiness: expect.not.stringMatching('open') }])
    for (const release of releases.values()) release()
    await t.advance('1s')
    releases.get('d')!()
    await t.advance('1s')
    expect(t.runs({ state: 'succeeded' })).toHaveLength(4)
  })

  it('that is none is refused', async () => {
    await using t = await begin()
    await expect(t.app.enqueue(crm, 'a', { concurrencyKey: '' })).rejects.toMatchObject({ code: 'OPTION_INVALID' })
  })

  it('is not needed: without one nothing waits', async () => {
    await using t = await start()
    await t.app.enqueue(bare)
    await t.advance('1s')
    expect(t.runs()).toMatchObject([{ overlap: 'allow', readiness: 'ready', delivery: 'at_least_once' }])
  })
})

describe('a payload', () => {
  const cycle: Record<string, unknown> = {}
  cycle.self = cycle
  const deep = JSON.parse(`${'['.repeat(70)}${']'.repeat(70)}`)

  it.each([
    ['of another type', { name: 7 }, 'PAYLOAD_INVALID', 'job "greet": payload.name: '],
    ['wrong far inside', { name: 'x', tags: [{ id: 1 }, { id: 'y' }] }, 'PAYLOAD_INVALID', 'payload.tags[1].id: '],
    ['missing', undefined, 'PAYLOAD_INVALID', 'payload: '],
    ['larger than 256 KiB', { name: 'x'.repeat(256 * 1024) }, 'JSON_TOO_LARGE', '257 KiB'],
    ['deeper than 64 levels', { name: 'x', deep }, 'JSON_INVALID', '64 levels'],
    ['that refers to itself', { name: 'x', cycle }, 'JSON_INVALID', 'cannot be stored as JSON'],
    ['with a BigInt', { name: 'x', big: 1n }, 'JSON_INVALID', 'BigInt'],
  ])('%s is refused before anything is written', async (_, payload, code, words) => {
    await using t = await start()
    const items = [{ payload: { name: 'fine' } }, { payload: payload as never }]
    const refusal = { code, message: expect.stringContaining(words) }
    await expect(t.app.enqueueMany(greet, items)).rejects.toMatchObject(refusal)
    await expect(t.app.enqueue(greet, payload as never)).rejects.toMatchObject(refusal)
    expect(await t.app.runs.list()).toEqual([])
  })

  it('is checked in the shape it is stored in, so that a Date is refused now and not at the first run', async () => {
    await using t = await start()
    await expect(t.app.enqueue(dated, { on: new Date(0) })).rejects.toMatchObject({ code: 'PAYLOAD_INVALID' })
  })

  it('may be checked by a schema that takes its time', async () => {
    await using t = await start()
    await expect(t.app.enqueue(late, 'bad')).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
      message: 'job "late": payload.a.b[0]: is not good',
    })
    const handle = await t.app.enqueue(late, 'good')
    await t.advance('1s')
    expect((await t.app.runs.wait(handle)).result).toBe('GOOD')
  })

  it('is checked again when the run is executed, since the schema may have changed meanwhile', async () => {
    await using t = await start()
    const older = defineJob({ name: 'greet', payload: z.object({ name: z.null() }), run: () => {} })
    const handle = await t.app.enqueue(older, { name: null })
    await t.advance('1h')
    expect(await t.app.runs.wait(handle)).toMatchObject({
      state: 'failed',
      attempt: 1,
      error: { code: 'PAYLOAD_INVALID' },
    })
  })

  it('does not exist for a job without a schema', async () => {
    await using t = await start()
    const wrong = t.app.enqueue as (...args: unknown[]) => Promise<unknown>
    await expect(wrong(bare, undefined, { delay: '1h' })).rejects.toMatchObject({ code: 'OPTION_INVALID' })
    await expect(wrong(bare, { accountId: 't_1' })).rejects.toMatchObject({ code: 'OPTION_UNKNOWN' })
    await expect(t.app.enqueueMany(bare, [{ payload: 1 as never }])).rejects.toMatchObject({ code: 'PAYLOAD_INVALID' })
    expect(await t.app.enqueueMany(bare, [])).toEqual([])
  })
})

describe('what is asked for', () => {
  it.each([
    ['an unknown option', { delai: '1h' }, 'OPTION_UNKNOWN'],
    ['both a delay and an instant', { delay: '1h', at: new Date(0) }, 'OPTION_INVALID'],
    ['a priority of 10', { priority: 10 }, 'OPTION_INVALID'],
    ['a delay that is no duration', { delay: 'soon' }, 'DURATION_INVALID'],
    ['an instant without a zone', { at: '2027-01-01 09:00' }, 'INSTANT_INVALID'],
    ['a transaction that is none', { tx: {} }, 'OPTION_INVALID'],
  ])('as %s is refused', async (_, options, code) => {
    await using t = await start()
    await expect(t.app.enqueue(bare, options as never)).rejects.toMatchObject({ code })
  })

  it('of a job that this app does not have is refused', async () => {
    await using t = await start()
    const stranger = defineJob({ name: 'stranger', run: () => {} })
    await expect(t.app.enqueue(stranger)).rejects.toMatchObject({ code: 'JOB_UNKNOWN' })
  })
})

describe("the caller's own transaction", () => {
  const folder = mkdtempSync(join(tmpdir(), 'everytick-tx-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const clientOf = (database: Database) => ({
    query: (text: string, values: unknown[] = []) => ({ rows: database.prepare(text).all(...(values as string[])) }),
  })

  it('decides whether runs and schedules exist', async () => {
    const path = join(folder, 'own.db')
    await using app = everytick({ store: `sqlite:${path}`, jobs: [bare, greet] })
    await app.sync()
    const database = await openDatabase(path)
    try {
      const tx = clientOf(database)
      const schedule = { key: 'hourly', workspace: 't_42', every: '1h', job: bare } as const
      database.exec('begin immediate')
      const lost = await app.enqueue(greet, { name: 'Ada' }, { tx, delay: '1h', idempotencyKey: 'once' })
      await app.schedules.upsert(schedule, { tx })
      expect(await app.runs.get(lost.id)).toBeNull()
      database.exec('rollback')
      expect([await app.runs.get(lost.id), await app.schedules.get('t_42', 'hourly')]).toEqual([null, null])

      database.exec('begin immediate')
      const [kept] = await app.enqueueMany(greet, [{ payload: { name: 'Ada' }, delay: '1h', idempotencyKey: 'once' }], {
        tx,
      })
      await app.schedules.upsert(schedule, { tx })
      await app.schedules.pause('t_42', 'hourly', { tx, reason: 'new' })
      database.exec('commit')
      expect(await app.runs.get(kept!.id)).toMatchObject({ state: 'pending' })
      expect(await app.schedules.get('t_42', 'hourly')).toMatchObject({ paused: { reason: 'new' } })

      database.exec('begin immediate')
      await app.schedules.resume('t_42', 'hourly', { tx })
      expect(await app.schedules.removeWorkspace('t_42', { tx })).toBe(1)
      database.exec('commit')
      expect(await app.schedules.get('t_42', 'hourly')).toBeNull()
    } finally {
      database.close()
    }
  })
})
