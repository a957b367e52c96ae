/** Promises of the dispatch of due rows over HTTP: one post each, bounded, reported, never repeated. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { ScheduleIndex, ScheduleIndexRow } from './contract.ts'
import { type Dispatch, type DispatchOptions, dispatchDue, type Post } from './dispatch.ts'

const NINE = Date.parse('2026-11-16T09:00:00Z')
const URL = 'http://hooks.test/tick'

/** An index in which `count` rows are due, and which writes down how it was asked. */
function due(count: number) {
  const claims: unknown[][] = []
  const rows = Array.from(
    { length: count },
    (_, i): ScheduleIndexRow => ({ userId: 'ana', key: `k${i}`, cron: '0 9 * * *', nextFireAt: NINE - i }),
  )
  const index: ScheduleIndex = {
    upsert: async () => {},
    remove: async () => {},
    claimDue: async (...asked) => {
      claims.push(asked)
      return rows
    },
  }
  return { rows, claims, index }
}

const ok = async () => ({ status: 202 })
const ignore = (): void => {}

describe('a dispatch', () => {
  it('posts each due row once, as JSON, and reports the status of each', async () => {
    const { rows, claims, index } = due(3)
    const posts: [string, Post][] = []
    const seen: Dispatch[] = []
    const answers = await dispatchDue({
      index,
      now: NINE,
      limit: 3,
      url: URL,
      headers: { authorization: 'Bearer t' },
      onDispatch: (dispatch) => void seen.push(dispatch),
      fetch: async (...post) => {
        posts.push(post)
        return { status: 200 + posts.length }
      },
    })
    expect(claims).toEqual([[NINE, 3]])
    expect(posts.map(([url, { body }]) => [url, JSON.parse(body)])).toEqual(rows.map((row) => [URL, row]))
    expect(posts[0]![1]).toMatchObject({
      method: 'POST',
      redirect: 'manual',
      headers: { authorization: 'Bearer t', 'content-type': 'application/json' },
    })
    expect(seen).toEqual(rows.map((row, i) => ({ row, status: 201 + i })))
    expect(answers).toEqual(seen)
  })

  it('needs no listener: the answers are what it returns', async () => {
    const { rows, index } = due(2)
    const answers = await dispatchDue({ index, now: NINE, url: URL, fetch: ok })
    expect(answers).toEqual(rows.map((row) => ({ row, status: 202 })))
  })

  it('logs what was claimed and not delivered, when there is no listener', async () => {
    const { index } = due(3)
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    onTestFinished(() => warn.mockRestore())
    const statuses: Record<string, number> = { k0: 204, k1: 500 }
    await dispatchDue({
      index,
      now: NINE,
      url: URL,
      fetch: async (_, { body }) => {
        const status = statuses[JSON.parse(body).key]
        if (status === undefined) throw new TypeError('fetch failed')
        return { status }
      },
    })
    expect(warn.mock.calls.flat().toSorted()).toEqual([
      'schedule_index: "k1" of user "ana" was claimed and not delivered: status 500',
      'schedule_index: "k2" of user "ana" was claimed and not delivered: no answer, fetch failed',
    ])
  })

  it('reports a transport error as status 0, sends nothing twice, and goes on', async () => {
    const { rows, index } = due(3)
    const sent: string[] = []
    const answers = await dispatchDue({
      index,
      now: NINE,
      url: URL,
      onDispatch: ignore,
      fetch: async (_, { body }) => {
        const { key } = JSON.parse(body)
        sent.push(key)
        if (key === 'k1') throw new TypeError('fetch failed')
        return { status: key === 'k0' ? 500 : 200 }
      },
    })
    const statuses = Object.fromEntries(answers.map(({ row, status }) => [row.key, status]))
    expect(statuses).toEqual({ k0: 500, k1: 0, k2: 200 })
    expect(answers.filter(({ error }) => error instanceof TypeError).length).toBe(1)
    expect(sent).toEqual(rows.map(({ key }) => key))
  })

  it('has no more requests in flight than it may, and keeps that many in flight', async () => {
    const { index } = due(10)
    const waiting: (() => void)[] = []
    let most = 0
    const dispatched = dispatchDue({
      index,
      now: NINE,
      url: URL,
      concurrency: 3,
      onDispatch: ignore,
      fetch: () =>
        new Promise((resolve) => {
          waiting.push(() => resolve({ status: 200 }))
          most = Math.max(most, waiting.length)
        }),
    })
    for (let answered = 0; answered < 10; ) {
      await new Promise(setImmediate)
      expect(waiting.length).toBe(Math.min(3, 10 - answered))
      waiting.shift()!()
      answered++
    }
    expect((await dispatched).length).toBe(10)
    expect(most).toBe(3)
  })

  it('sends every row before it throws what a listener threw', async () => {
    const { index } = due(3)
    let sent = 0
    const failing = (keys: string[]): Promise<Dispatch[]> =>
      dispatchDue({
        index,
        now: NINE,
        url: URL,
        concurrency: 1,
        onDispatch: async ({ row }) => {
          if (keys.includes(row.key)) throw new Error(`listener ${row.key}`)
        },
        fetch: () => ok().finally(() => sent++),
      })
    await expect(failing(['k0'])).rejects.toThrow('listener k0')
    await expect(failing(['k0', 'k1'])).rejects.toThrow(AggregateError)
    expect(sent).toBe(6)
  })

  it('refuses wrong options before it claims anything', async () => {
    const { claims, index } = due(1)
    const usual = { index, now: NINE, url: URL, onDispatch: ignore, fetch: ok }
    const wrong: Partial<DispatchOptions>[] = [
      { url: 'hooks.test' },
      { url: 'file:///tick' },
      { url: 'http://ana:secret@hooks.test/' },
      { headers: { 'x y': '1' } },
      { headers: { x: 'a\nb' } },
      { concurrency: 0 },
      { onDispatch: 'log' as never },
      { timeout: 'soon' },
    ]
    const refusals = wrong.map((given) => dispatchDue({ ...usual, ...given }).catch((error) => error.code))
    const codes = await Promise.all(refusals)
    expect(codes).toEqual([...Array(7).fill('OPTION_INVALID'), 'DURATION_INVALID'])
    expect(claims).toEqual([])
  })

  it('asks by the clock of the machine, and for as many as the index likes, when not told otherwise', async () => {
    const { claims, index } = due(0)
    expect(await dispatchDue({ index, url: URL, fetch: ok })).toEqual([])
    expect(claims).toEqual([[expect.any(Number)]])
  })

  it('speaks to a real server: an answer, a redirect that is not followed, a closed door, and one that never answers', async () => {
    const bodies: unknown[] = []
    const server = createServer(async (request, response) => {
      if (request.url === '/silent') return
      let text = ''
      for await (const piece of request) text += piece
      bodies.push(JSON.parse(text))
      if (request.url === '/moved') response.writeHead(302, { location: '/ok' }).end()
      if (request.url === '/ok') response.writeHead(204).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const { rows, index } = due(1)
    const statusOf = async (url: string, timeout = '30s'): Promise<number> => {
      const [answer] = await dispatchDue({ index, now: NINE, url, timeout, onDispatch: ignore })
      return answer!.status
    }
    const base = `http://127.0.0.1:${port}`
    expect([await statusOf(`${base}/ok`), await statusOf(`${base}/moved`)]).toEqual([204, 302])
    expect(await statusOf(`${base}/silent`, '20ms')).toBe(0)
    expect(bodies).toEqual([rows[0], rows[0]])
    expect(await statusOf('http://127.0.0.1:1/')).toBe(0)
  })
})
