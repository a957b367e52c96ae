/** No list answers more than a page of bytes, however large payloads, results, errors and log lines are; and by its pages everything is found once. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PAGE_BYTES } from '../../src/server/contract/vocabulary.ts'
import { openStage, STORES, type Stage } from './stage.ts'

/** Compresses well, so that what it takes on disk says nothing about what it takes in an answer. */
const LARGE = 'x'.repeat(200_000)
const MANY = 24
/** What an item has beside its content. */
const AROUND = 100_000

describe.each(STORES)('on %s', (store) => {
  let stage: Stage
  let schedule: string
  const runs: string[] = []
  beforeAll(async () => {
    stage = await openStage(store)
    const post = async (path: string, body: object) => {
      const answer = await stage.ask('POST', path, { body: { workspace: 'a', ...body } })
      expect([answer.status, answer.body.detail]).toEqual([201, undefined])
      return answer.body.id as string
    }
    const payload = { account: LARGE }
    for (let i = 0; i < MANY; i++) {
      runs.push(await post('/runs', { job: 'typed', queue: 'large', payload }))
      const id = await post('/schedules', { key: `large-${i}`, every: '1h', job: 'typed', payload })
      if (i === 0) schedule = id
    }
    for (let i = 0; i < MANY; i++) {
      const body = { payload: { account: LARGE, amount: i } }
      expect((await stage.ask('PATCH', `/schedules/${schedule}`, { body })).status).toBe(200)
    }
    const { claims, logs } = await stage.server.parts.core.store()
    const half = { queue: 'large', limit: MANY / 2 }
    const claimed = await claims.claim({ workerId: 'w', leaseMs: 600_000, wanted: [half] })
    const verdict = { kind: 'final', state: 'succeeded', result: { answer: LARGE } } as const
    const settlements = claimed.runs.map(({ id, fence, claimId }) => ({
      id,
      fence,
      claimId: claimId!,
      workerId: 'w',
      verdict,
    }))
    await claims.settle(settlements)
    // What comes too late is kept whole in the journal.
    for (let i = 0; i < MANY; i++) await claims.settle(settlements.slice(0, 1))
    const line = { runId: runs[0]!, at: 0, level: 'info', message: 'm', data: { said: LARGE } } as const
    await logs.append(Array.from({ length: MANY }, (_, i) => ({ ...line, attempt: i + 1 })))
    runs.unshift(settlements[0]!.id)
  }, 120_000)
  afterAll(() => stage[Symbol.asyncDispose]())

  /** All pages of a list, with how large the largest was. */
  const walk = async (path: string) => {
    const items: Record<string, unknown>[] = []
    let [largest, pages] = [0, 0]
    for (let cursor = ''; ; ) {
      const answer = await stage.ask('GET', `${path}${path.includes('?') ? '&' : '?'}limit=200${cursor}`)
      expect([path, answer.status, answer.body.detail]).toEqual([path, 200, undefined])
      largest = Math.max(largest, JSON.stringify(answer.body).length)
      pages++
      items.push(...answer.body.data)
      expect(answer.body.page.hasMore).toBe(answer.body.page.next !== null)
      if (answer.body.page.next === null) return { items, largest, pages }
      expect(answer.body.data.length).toBeGreaterThan(0)
      cursor = `&cursor=${answer.body.page.next}`
    }
  }

  it.each([
    ['/runs?workspace=a&include=payload', 'payload', MANY],
    ['/runs?workspace=a&include=payload,result', 'payload', MANY],
    ['/runs?workspace=a&status=succeeded&include=result', 'result', MANY / 2],
    ['/schedules?workspace=a&include=payload', 'payload', MANY],
    ['/audit?workspace=a&include=payload', 'before', 3 * MANY],
  ])('%s comes in bounded pages, with everything once', async (path, field, count) => {
    const { items, largest, pages } = await walk(path)
    expect(largest).toBeLessThan(PAGE_BYTES + AROUND)
    expect(pages).toBeGreaterThan(1)
    expect(new Set(items.map(({ id, seq }) => id ?? seq)).size).toBe(items.length)
    expect(items).toHaveLength(count)
    expect(items.some((item) => JSON.stringify(item[field])?.length > LARGE.length)).toBe(true)
  })

  it('comes in bounded pages of one schedule: its revisions, and its runs', async () => {
    const whole = await walk(`/schedules/${schedule}/revisions?include=payload`)
    expect(whole.largest).toBeLessThan(PAGE_BYTES + AROUND)
    expect(whole.items.map(({ revision }) => revision)).toEqual(Array.from({ length: MANY }, (_, i) => i + 2))
    expect(JSON.stringify(whole.items)).toContain(LARGE)
    const short = await walk(`/schedules/${schedule}/revisions`)
    expect(short.items).toHaveLength(MANY)
    expect(short.largest).toBeLessThan(AROUND)
  })

  it('comes in bounded pages of one run: its attempts, with the last once', async () => {
    for (const include of ['', '?include=result']) {
      const { items, largest } = await walk(`/runs/${runs[0]}/attempts${include}`)
      expect(largest).toBeLessThan(PAGE_BYTES + AROUND)
      expect(items.map(({ kind }) => kind).sort()).toEqual([...Array(MANY).fill('refused'), 'succeeded'])
      expect(JSON.stringify(items).includes(LARGE)).toBe(include !== '')
    }
  })

  it('comes in bounded pages of lines', async () => {
    const id = runs[1]
    const seqs: number[] = []
    for (let after = 0; ; ) {
      const { body } = await stage.ask('GET', `/runs/${id}/logs?limit=5000&after=${after}`)
      expect(body.length).toBeLessThan(PAGE_BYTES + AROUND)
      const lines = (body as string)
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line).seq as number)
      if (lines.length === 0) break
      seqs.push(...lines)
      after = lines.at(-1)!
    }
    expect(new Set(seqs).size).toBe(MANY)
  })

  it.each(['/runs', '/schedules', '/audit'])('%s leaves out what may be large unless it is asked for', async (path) => {
    const { body } = await stage.ask('GET', `${path}?workspace=a&limit=24`)
    // Pages of the audit log are bounded by what is stored.
    if (path === '/audit') expect(body.data.length).toBeGreaterThan(0)
    else expect(body.data).toHaveLength(24)
    expect(JSON.stringify(body).length).toBeLessThan(AROUND)
    for (const item of body.data) {
      expect(item).not.toHaveProperty('payload')
      expect(item).not.toHaveProperty('result')
    }
  })

  it('refuses to include what it does not know, and says what it knows', async () => {
    const { status, body } = await stage.ask('GET', '/runs?include=payload,secrets')
    expect([status, body.code]).toEqual([422, 'REQUEST_INVALID'])
    expect(body.detail).toBe('?include.1: is unknown here: use payload,result, or leave it out')
    expect((await stage.ask('GET', '/schedules?include=result')).status).toBe(422)
  })

  it('has one item on a page, however large it is', async () => {
    const { history } = await stage.server.parts.core.store()
    const { runs: found, next } = await history.find({ workspace: 'a' }, { limit: 200, maxBytes: 1 })
    expect([found.length, next?.id]).toEqual([1, found[0]!.id])
  })

  it('says why an occurrence became what it did without holding all revisions with their payloads', async () => {
    const { history } = await stage.server.parts.core.store()
    const definitions = await history.definitions(schedule)
    expect(definitions).toHaveLength(MANY)
    expect(JSON.stringify(definitions).length).toBeLessThan(AROUND)
    expect(definitions.map(({ revision }) => revision)).toEqual(
      (await history.revisions(schedule)).map(({ revision }) => revision),
    )
  })
})
