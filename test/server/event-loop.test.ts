/** No request of any key holds the event loop for more than 20 ms: the worst accepted input of every operation, measured on a server that holds hostile schedules. */
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OPERATION_RULES } from '../../src/server/operation-rules.ts'
import { longestBlock } from './event-loop-watch.ts'
import { type OutsideAnswer, outsideClient } from './outside-client.ts'
import { openStage, STORES, type Stage } from './stage.ts'
import { type HostileStage, makeHostile, ROUNDS, type Sent, WORST } from './worst-requests.ts'

/** CPU time of the thread in one turn of its loop. */
const MOST_MS = 20

interface Measured {
  /** The answer was another than the table says. */
  readonly wrong: string | null
  /** The shortest of the rounds: what a machine does besides only makes one longer. */
  blockMs: number
}

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
    const blockMs = await longestBlock(async () => {
      answer = await client.send(request)
    })
    return { blockMs, status: answer!.status, text: answer!.text }
  }

  const methodOf = (id: string): string =>
    stage.server.routes.find(({ operation }) => operation.id === id)!.operation.method

  it.each(Object.keys(OPERATION_RULES))(
    '%s',
    async (id) => {
      const found = new Map<string, Measured>()
      for (let round = 0; round < ROUNDS; round++) {
        const requests = await WORST[id as keyof typeof WORST](hostile, round)
        for (const [i, each] of requests.entries()) {
          const { blockMs, status, text } = await send(methodOf(id), each)
          const isRight = each.refused === undefined ? status >= 200 && status < 300 : text.includes(each.refused)
          const what = `${id} ${i} ${each.what ?? ''}`.trim()
          const known = found.get(what)
          const wrong = isRight ? (known?.wrong ?? null) : `${status} ${text.slice(0, 300)}`
          found.set(what, { wrong, blockMs: Math.min(known?.blockMs ?? Number.POSITIVE_INFINITY, blockMs) })
        }
        // The shortest of more rounds would be no longer.
        if ([...found.values()].every((each) => each.blockMs <= MOST_MS)) break
      }
      const wrong = [...found].filter((each) => each[1].wrong !== null)
      expect(wrong.map(([what, each]) => `${what}: ${each.wrong}`)).toEqual([])
      const long = [...found].filter(([, { blockMs }]) => blockMs > MOST_MS)
      expect(long.map(([what, { blockMs }]) => `${what}: ${blockMs.toFixed(1)} ms`)).toEqual([])
    },
    120_000,
  )
})

it('has an entry for every operation, and none for another', () => {
  expect(Object.keys(WORST).sort()).toEqual(Object.keys(OPERATION_RULES).sort())
})
