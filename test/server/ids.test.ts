/** Ids over REST: lists kept to the beginning of an id, of a key's own workspace only, and what a path without an id is told. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { coreOf } from '../../src/scheduler/core.ts'
import { newRun } from '../../src/testing/conformance/samples.ts'
import { openStage, STORES, type Stage } from './stage.ts'

const idOf = (first: string, last: number): string => `${first}-0000-7000-8000-${String(last).padStart(12, '0')}`

describe.each(STORES)('the beginning of an id on %s', (store) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage(store)
    const { runs } = await coreOf(stage.app).store()
    const of = (workspace: string, ids: readonly string[]) => ids.map((id) => newRun({ id, workspace, job: 'plain' }))
    await runs.enqueue([
      ...of('a', [idOf('0190aaaa', 1), idOf('0190aaaa', 3), idOf('0190aaab', 1)]),
      ...of('b', [idOf('0190aaaa', 2), idOf('0190aaa9', 9)]),
    ])
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  const found = async (query: string, as = 'read'): Promise<string[]> => {
    const { status, body } = await stage.ask('GET', `/runs?${query}`, { as })
    expect(status).toBe(200)
    return body.data.map(({ id }: { id: string }) => id)
  }

  it('lists the runs whose id begins so, newest first, and no other', async () => {
    expect(await found('id=0190aaaa')).toEqual([3, 2, 1].map((last) => idOf('0190aaaa', last)))
    expect(await found('id=0190AAAA-0000-7')).toEqual([3, 2, 1].map((last) => idOf('0190aaaa', last)))
    expect(await found('id=0190aaaa000070008000000000000002')).toEqual([idOf('0190aaaa', 2)])
    expect(await found('id=0190aaac')).toEqual([])
    expect(await found('id=0190aaaa&status=failed')).toEqual([])
  })

  it('shows a key that is bound to a workspace only what is in it', async () => {
    expect(await found('id=0190aaaa', 'a-read')).toEqual([3, 1].map((last) => idOf('0190aaaa', last)))
    expect(await found('id=0190aaaa', 'b-read')).toEqual([idOf('0190aaaa', 2)])
    expect(await found('id=0190aaab', 'b-read')).toEqual([])
  })

  it('is followed page by page to its end, and not beyond', async () => {
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await stage.ask('GET', `/runs?id=0190aaaa&limit=1${cursor && `&cursor=${cursor}`}`)
      seen.push(...body.data.map(({ id }: { id: string }) => id))
      expect(seen.length).toBeLessThan(5)
      cursor = body.page.next
    }
    expect(seen).toEqual([3, 2, 1].map((last) => idOf('0190aaaa', last)))
  })

  it('is refused when it is none', async () => {
    for (const id of ['019', 'nightly', '0190aaaa-0000-7000-8000-0000000000011', ''])
      expect(await stage.ask('GET', `/runs?id=${id}`)).toMatchObject({ status: 422, body: { code: 'REQUEST_INVALID' } })
  })

  it('finds keys and channels by name besides, also far down the list', async () => {
    const channel = (name: string) => stage.ask('POST', '/channels', { body: { name, config: { kind: 'log' } } })
    const { body: first } = await channel('first')
    for (let i = 0; i < 3; i++) await channel(`other ${i}`)
    const names = async (path: string): Promise<string[]> =>
      (await stage.ask('GET', path)).body.data.map(({ name }: { name: string }) => name)
    expect(await names('/channels?name=first')).toEqual(['first'])
    expect(await names(`/channels?name=first&id=${first.id.slice(0, 20)}`)).toEqual(['first'])
    expect(await names(`/channels?name=other%201&id=${first.id}`)).toEqual([])
    expect(await names('/api-keys?name=a-read')).toEqual(['a-read'])
    expect(await names('/api-keys?name=nobody')).toEqual([])
  })

  it('guesses the key of a schedule that is not there, within what the caller may see', async () => {
    const body = { key: 'nightly-report', workspace: 'a', every: '1h', job: 'plain' }
    expect((await stage.ask('POST', '/schedules', { body })).status).toBe(201)
    const asked = (as: string) => stage.ask('GET', '/schedules/by-key/a/nigthly-report', { as })
    expect(await asked('a-read')).toMatchObject({ status: 404, body: { hint: 'did you mean "nightly-report"?' } })
    const { status, body: told } = await asked('b-read')
    expect(status).toBe(404)
    expect(JSON.stringify(told)).not.toContain('nightly-report')
  })

  it.each([
    ['GET', '/schedules/nightly', 'a schedule', 'GET /schedules/by-key/{workspace}/nightly'],
    ['POST', '/schedules/night%2Fly/pause', 'a schedule', 'GET /schedules/by-key/{workspace}/night%2Fly'],
    ['GET', '/runs/01a1e3', 'a run', 'GET /runs?id='],
    ['GET', '/channels/ops', 'a channel', 'GET /channels?name=ops'],
  ])(
    'in the path of %s %s is refused with a sentence that says how to find the id',
    async (method, path, what, way) => {
      const { status, body } = await stage.ask(method, path, method === 'POST' ? { body: {} } : {})
      expect(status).toBe(422)
      expect(body.detail).toMatch(new RegExp(`^the path requires the id of ${what}, but "[^"]+" is not an id$`))
      expect(body.hint).toContain(way)
      expect(body.errors).toMatchObject([{ pointer: '{}id' }])
    },
  )
})
