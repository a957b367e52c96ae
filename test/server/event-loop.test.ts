/** No request of any key holds the event loop for more than 20 ms: the worst accepted input of every operation, measured on a server that holds hostile schedules. */
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OPERATION_RULES } from '../../src/server/operation-rules.ts'
import { type OutsideAnswer, outsideClient } from './outside-client.ts'
import { openStage, STORES, type Stage } from './stage.ts'
import { longestTurn } from './turn-watch.ts'
import { type HostileStage, makeHostile, ROUNDS, type Sent, WORST } from './worst-requests.ts'

/** CPU time of the thread in one turn of its loop. */
const MOST_MS = 20

interface Measured {
  readonly what: string
  readonly status: number
  /** The shortest of the rounds: what a machine does besides only makes one longer. */
  turnMs: number
  text: string
}

/** How many bytes of runs a page has is bounded elsewhere; until then it is as large as its payloads are. */
const UNBOUNDED_PAGES = ['listRuns']

describe.each(STORES)('on %s', (store) => {
  const client = outsideClient()
  let hostile: HostileStage
  let stage: Stage
  let base: string
  let close = async (): Promise<void> => {}

  beforeAll(async () => {
    stage = await openStage(store)
    hostile = await makeHostile(stage)
    const listening = await new Promise<ReturnType<typeof serve>>((resolve) => {
      const started = serve(
        { fetch: (request, env) => stage.server.fetch(request, env as never), hostname: '127.0.0.1', port: 0 },
        () => resolve(started),
      )
    })
    close = () =>
      new Promise((resolve) => {
        listening.close(() => resolve())
        if ('closeAllConnections' in listening) listening.closeAllConnections()
      })
    base = `http://127.0.0.1:${(listening.address() as AddressInfo).port}/api/v1`
  }, 120_000)
  afterAll(async () => {
    await client[Symbol.asyncDispose]()
    await close()
    await stage[Symbol.asyncDispose]()
  })

  const send = async (method: string, { path, body, headers = {}, as = 'admin' }: Sent) => {
    const request = {
      ...{ method: method.toUpperCase(), url: `${base}${path}` },
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(as === null ? {} : { authorization: `Bearer ${stage.tokens[as] ?? as}` }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }
    let answer: OutsideAnswer | undefined
    const turnMs = await longestTurn(async () => {
      answer = await client.send(request)
    })
    return { turnMs, status: answer!.status, text: answer!.text }
  }

  const methodOf = (id: string): string =>
    stage.server.routes.find(({ operation }) => operation.id === id)!.operation.method

  it.each(Object.keys(OPERATION_RULES).filter((id) => !UNBOUNDED_PAGES.includes(id)))(
    '%s',
    async (id) => {
      const found = new Map<string, Measured>()
      for (let round = 0; round < ROUNDS; round++) {
        for (const each of await WORST[id as keyof typeof WORST](hostile, round)) {
          const { turnMs, status, text } = await send(methodOf(id), each)
          const what = `${id} ${each.what ?? ''} ${each.path.slice(0, 40)}`.replaceAll(/round-\d|[0-9a-f-]{20,}/g, '…')
          const known = found.get(what)
          if (known) known.turnMs = Math.min(known.turnMs, turnMs)
          else found.set(what, { what, status, turnMs, text })
        }
      }
      if (process.env.TURNS)
        for (const { what, status, turnMs, text } of found.values())
          if (turnMs > 8 || status >= 400)
            console.log(turnMs.toFixed(1).padStart(7), status, what, status >= 400 ? text.slice(0, 230) : '')
      const statuses = [...found.values()].filter(({ status }) => status === 0 || status >= 500)
      expect(statuses).toEqual([])
      const long = [...found.values()].filter(({ turnMs }) => turnMs > MOST_MS)
      expect(long.map(({ what, turnMs }) => `${what}: ${turnMs.toFixed(1)} ms`)).toEqual([])
    },
    120_000,
  )
})

it('has an entry for every operation, and none for another', () => {
  expect(Object.keys(WORST)).toEqual(Object.keys(OPERATION_RULES))
})
