/** Bulk work: done to all that fit and to nothing else, by whichever node is there, and once. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { everytick, schedule } from '../../src/index.ts'
import { coreOf } from '../../src/scheduler/core.ts'
import type { ScheduleView } from '../../src/scheduler/schedule-view.ts'
import { startChild } from './child.ts'
import { JOBS, openStage, STORES, type Stage, type StoreName } from './stage.ts'

const PATIENT = { timeout: 30_000, interval: 25 }
const MANY = 250
const [plain, , failing] = JOBS
/** None is due while it is worked on: an edit would let what has come due become its run. */
const RESTING = { every: '1h', startAt: new Date(Date.now() + 86_400_000) } as const

/** So many schedules that several steps are needed, and some that are not meant. */
async function furnish({ app }: Stage, count = MANY): Promise<void> {
  const named = (workspace: string, tag: string) => (_: unknown, i: number) =>
    schedule({ key: `${tag}-${String(i).padStart(4, '0')}`, workspace, tags: [tag], ...RESTING, job: plain! })
  for (let from = 0; from < count; from += 500)
    await app.schedules.upsertMany(Array.from({ length: count }, named('a', 'meant')).slice(from, from + 500))
  await app.schedules.upsertMany([
    ...Array.from({ length: 5 }, named('a', 'other')),
    ...Array.from({ length: 5 }, named('b', 'meant')),
  ])
}

const order = async ({ ask }: Stage, body: unknown, as = 'a-operate'): Promise<string> => {
  const { status, body: made, headers } = await ask('POST', '/operations', { body, as })
  expect([status, made.state, made.done]).toEqual([202, 'running', 0])
  expect(headers.get('location')).toBe(`/api/v1/operations/${made.id}`)
  return made.id
}
const look = async ({ ask }: Stage, id: string) => (await ask('GET', `/operations/${id}`)).body
const finished = async (stage: Stage, id: string) => {
  await expect.poll(async () => (await look(stage, id)).state, PATIENT).toBe('done')
  return look(stage, id)
}
/** Everything that there is, by a word for what it looks like. */
async function tally({ app }: Stage, word: (found: ScheduleView) => string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  let after: { workspace: string; key: string } | undefined
  for (;;) {
    const page = await app.schedules.list({ limit: 1000, ...(after ? { after } : {}) })
    for (const each of page) {
      const name = `${each.workspace} ${each.key.split('-')[0]} ${word(each)}`
      counts[name] = (counts[name] ?? 0) + 1
    }
    after = page.at(-1)
    if (page.length < 1000) return counts
  }
}
const UNTOUCHED = { 'a other no': 5, 'b meant no': 5 }

const COUNT = 600

/** One node begins; another finishes after the first has gone in the middle. */
async function handedOver(store: StoreName, go: (stage: Stage) => Promise<() => Promise<void>>): Promise<void> {
  await using stage = await openStage(store)
  await furnish(stage, COUNT)
  const id = await order(stage, { action: 'schedules.trigger', filter: { tag: 'meant' } })
  const end = await go(stage)
  await expect.poll(async () => (await look(stage, id)).done, { ...PATIENT, interval: 5 }).toBeGreaterThan(0)
  await end()
  const { done, state } = await look(stage, id)
  expect([state, done < COUNT]).toEqual(['running', true])
  await stage.another()
  expect(await finished(stage, id)).toMatchObject({ done: COUNT, failed: 0 })
  const { history } = await coreOf(stage.app).store()
  const perSchedule = new Map<string | undefined, number>()
  let after: { id: string } | undefined
  for (;;) {
    const page = await history.runs({}, { limit: 1000, ...(after ? { after } : {}) })
    for (const run of page) perSchedule.set(run.schedule?.id, (perSchedule.get(run.schedule?.id) ?? 0) + 1)
    after = page.at(-1)
    if (page.length < 1000) break
  }
  expect(perSchedule.size).toBe(COUNT)
  expect([...new Set(perSchedule.values())]).toEqual([1])
}

describe.each(STORES)('bulk work on %s', (store) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage(store, { backgroundTasks: true })
    await furnish(stage)
  })
  afterAll(() => stage[Symbol.asyncDispose]())
  const meant = { tag: 'meant' }

  it('pauses and resumes all that fit and no others, in steps, each once', async () => {
    const isPaused = (found: ScheduleView) => (found.paused ? 'yes' : 'no')
    const id = await order(stage, { action: 'schedules.pause', filter: meant, reason: 'a flood' })
    const seen = new Set<number>()
    await expect
      .poll(async () => {
        const { done, state } = await look(stage, id)
        seen.add(done)
        return state
      }, PATIENT)
      .toBe('done')
    expect([...seen]).toEqual([...seen].toSorted((a, b) => a - b))
    expect(await look(stage, id)).toMatchObject({ done: MANY, failed: 0, errors: [], by: 'a-operate', workspace: 'a' })
    expect(await tally(stage, isPaused)).toEqual({ 'a meant yes': MANY, ...UNTOUCHED })
    expect(await stage.app.schedules.revisions('a', 'meant-0007')).toHaveLength(1)
    const back = await order(stage, { action: 'schedules.resume', filter: { ...meant, paused: true } })
    expect(await finished(stage, back)).toMatchObject({ done: MANY, failed: 0 })
    expect(await tally(stage, isPaused)).toEqual({ 'a meant no': MANY, ...UNTOUCHED })
  })

  it('spreads by jitter what may be edited, and counts and names what may not', async () => {
    const coded = Array.from({ length: 3 }, (_, i) =>
      schedule({ key: `meant-code-${i}`, workspace: 'a', tags: ['meant'], ...RESTING, job: plain! }),
    )
    await using code = everytick({ store: coreOf(stage.app).settings.store, jobs: JOBS, schedules: coded })
    await code.sync()
    const id = await order(stage, { action: 'schedules.jitter', filter: meant, jitter: '5m' })
    const over = await finished(stage, id)
    expect(over).toMatchObject({ done: MANY, failed: 3 })
    expect(over.errors.map(({ target }: { target: string }) => target)).toEqual(coded.map(({ key }) => `a/${key}`))
    expect(over.errors[0].message).toContain('code')
    const jittered = await tally(stage, ({ jitter }) => (String(jitter) === '5m' ? 'yes' : 'no'))
    expect(jittered).toEqual({ 'a meant yes': MANY, 'a meant no': 3, ...UNTOUCHED })
    for (const { key } of coded) await stage.app.schedules.remove('a', key)
  })

  it('triggers each once, cancels the runs, and ends where it is when it is cancelled itself', async () => {
    const id = await order(stage, { action: 'schedules.trigger', filter: meant })
    expect(await finished(stage, id)).toMatchObject({ done: MANY, failed: 0 })
    const runs = await stage.app.runs.list({ limit: 1000 })
    expect(new Set(runs.map((run) => run.schedule?.id)).size).toBe(MANY)
    expect(runs).toHaveLength(MANY)
    const cancel = await order(stage, { action: 'runs.cancel', filter: { job: 'plain' } })
    expect(await finished(stage, cancel)).toMatchObject({ done: MANY, failed: 0 })
    expect((await stage.app.runs.list({ state: 'cancelled', limit: 1000 })).length).toBe(MANY)

    const short = await order(stage, { action: 'schedules.trigger', filter: meant })
    expect((await stage.ask('POST', `/operations/${short}/cancel`)).body.state).toBe('cancelled')
    // A second one shows that the first is behind us.
    await finished(stage, await order(stage, { action: 'schedules.resume', filter: { text: 'other' } }))
    const made = (await stage.app.runs.list({ state: 'pending', limit: 1000 })).length
    expect(await look(stage, short)).toMatchObject({ state: 'cancelled', done: made })
    expect(made).toBeLessThan(MANY)
  })

  it('tries failed runs again that failed before it was asked for', async () => {
    const worker = await stage.another({ backgroundTasks: false })
    await worker.app.start({ role: 'worker' })
    const items = Array.from({ length: 120 }, () => ({ workspace: 'a' }))
    await stage.app.enqueueMany(failing as never, items as never)
    const failed = async () => (await stage.app.runs.list({ job: 'failing', state: 'failed', limit: 1000 })).length
    await expect.poll(failed, PATIENT).toBe(120)
    await worker.app.stop()
    const id = await order(stage, { action: 'runs.retry', filter: { job: 'failing' } })
    expect(await finished(stage, id)).toMatchObject({ done: 120, failed: 0 })
    expect(await failed()).toBe(0)
    expect((await stage.app.runs.list({ job: 'failing', state: 'pending', limit: 1000 })).length).toBe(120)
  })

  it('removes all that fit and no others', async () => {
    const id = await order(stage, { action: 'schedules.remove', filter: meant })
    expect(await finished(stage, id)).toMatchObject({ done: MANY, failed: 0 })
    expect(await tally(stage, () => 'no')).toEqual(UNTOUCHED)
    const refused = await stage.ask('POST', '/operations', { body: { action: 'schedules.remove', filter: {} } })
    expect(refused.status).toBe(422)
    expect(await tally(stage, () => 'no')).toEqual(UNTOUCHED)
  })
})

describe('bulk work of a node that goes in the middle', () => {
  it('is finished by another when its server ends, with nothing done twice', async () => {
    await Promise.all(
      STORES.map((store) =>
        handedOver(store, async (stage) => {
          const { server } = await stage.another()
          return () => server.end()
        }),
      ),
    )
  })

  it('is finished by another when it is killed, with nothing done twice', async () => {
    await Promise.all(
      STORES.map((store) =>
        handedOver(store, async (stage) => {
          const address = coreOf(stage.app).settings.store as string
          const child = await startChild({ store: address, works: false, backgroundTasks: true })
          return child.kill
        }),
      ),
    )
  })
})
