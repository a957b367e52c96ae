/** Mounted in other frameworks, really: bodies that were read or not, prefixes, streams, readers that leave, addresses. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { serve as serveHono } from '@hono/node-server'
import express from 'express'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { Hono } from 'hono'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Everytick, everytick } from '../../src/index.ts'
import { type Handler, type NodeHandler, type NodeRequest, toNodeHandler } from '../../src/server.ts'
import { ensureBuilt, root } from '../built-package.ts'
import { JOBS } from './stage.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  ends.push(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function listeningFastify(server: FastifyInstance): Promise<string> {
  ends.push(() => server.close())
  return server.listen({ port: 0, host: '127.0.0.1' })
}

function openApp(): Everytick {
  const app = everytick({ store: 'sqlite::memory:', jobs: JOBS })
  ends.push(() => app[Symbol.asyncDispose]())
  return app
}
const mountedAt = (basePath: string): NodeHandler =>
  toNodeHandler(openApp().handler({ basePath, authorize: () => 'admin', backgroundTasks: false }))

const json = (body: unknown) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
const SCHEDULE = { key: 'nightly', cron: '30 2 * * *', job: 'plain', description: 'grüße' }

/** Creates, changes and reads: a body as JSON, a body as a merge patch, a query, a path, a header of the answer. */
async function expectWorks(api: string): Promise<void> {
  const made = await fetch(`${api}/schedules`, json(SCHEDULE))
  expect([made.status, await made.clone().json()]).toMatchObject([201, { description: 'grüße' }])
  const { id } = (await made.json()) as { id: string }
  const changed = await fetch(`${api}/schedules/${id}`, { ...json({ description: 'changed' }), method: 'PATCH' })
  expect([changed.status, await changed.json()]).toMatchObject([200, { description: 'changed' }])
  const listed = await fetch(`${api}/schedules?limit=5`)
  expect(((await listed.json()) as { data: unknown[] }).data).toHaveLength(1)
  expect(listed.headers.get('x-content-type-options')).toBe('nosniff')
  expect((await fetch(`${api}/schedules/${id}`, { method: 'DELETE' })).status).toBeLessThan(300)
  expect((await fetch(`${api}/nowhere`)).status).toBe(404)
}

describe('mounted in Express', () => {
  it('gets the body that express.json() has read, under a prefix', async () => {
    const server = express().use(express.json()).use('/jobs', mountedAt('/jobs'))
    await expectWorks(`${await listening(server)}/jobs/api/v1`)
  })

  it('gets the body itself where nothing has read it', async () => {
    const server = express().use('/jobs', mountedAt('/jobs')).use(express.json())
    await expectWorks(`${await listening(server)}/jobs/api/v1`)
  })

  it('works under a prefix that it was not told of', async () => {
    const server = express().use(express.json()).use('/deep/jobs', mountedAt(''))
    await expectWorks(`${await listening(server)}/deep/jobs/api/v1`)
  })

  it('says that the adapter is missing where it is mounted without', async () => {
    const handler = openApp().handler({ authorize: () => 'admin', backgroundTasks: false })
    let thrown: unknown
    const server = express().use(handler as never)
    server.use(((error, _request, response, _next) => {
      thrown = error
      response.end()
    }) satisfies express.ErrorRequestHandler)
    await fetch(await listening(server))
    expect(thrown).toMatchObject({
      code: 'OPTION_INVALID',
      hint: expect.stringContaining('toNodeHandler(app.handler())'),
    })
  })

  it('gets bodies that were read as text, as bytes and as a form', async () => {
    const seen: string[] = []
    const echo = Object.assign(
      async (request: Request) => {
        seen.push(await request.text())
        return new Response(null, { status: 204 })
      },
      { basePath: '' },
    )
    const parsers = [express.text({ type: '*/*' }), express.raw({ type: '*/*' }), express.urlencoded()]
    for (const parser of parsers) {
      const url = await listening(express().use(parser, toNodeHandler(echo)))
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      await fetch(url, { method: 'POST', headers, body: 'a=1&b=%20x' })
    }
    expect(seen).toEqual(['a=1&b=%20x', 'a=1&b=%20x', 'a=1&b=+x'])
  })
})

describe('mounted in Fastify', () => {
  it('is a route handler: gets the body that Fastify has read', async () => {
    const server = Fastify()
    server.all('/jobs/*', mountedAt('/jobs'))
    await expectWorks(`${await listeningFastify(server)}/jobs/api/v1`)
  })

  it('gets the body that Fastify has read, handed over', async () => {
    const handle = mountedAt('/jobs')
    const server = Fastify()
    server.all('/jobs/*', (request, reply) => {
      reply.hijack()
      return handle(Object.assign(request.raw, { body: request.body }) as NodeRequest, reply.raw)
    })
    await expectWorks(`${await listeningFastify(server)}/jobs/api/v1`)
  })

  it('says what is wrong where the body was read and not handed over', async () => {
    const handle = mountedAt('')
    const server = Fastify()
    server.all('/*', (request: FastifyRequest, reply: FastifyReply) => {
      reply.hijack()
      return handle(request.raw, reply.raw)
    })
    const answer = await fetch(`${await listeningFastify(server)}/api/v1/schedules`, json(SCHEDULE))
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { code: 'BODY_INVALID', hint: expect.stringContaining('request.body') },
    ])
  })
})

describe('mounted in Hono', () => {
  it('needs no adapter, and learns the address of the sender', async () => {
    const handler = openApp().handler({ basePath: '/jobs', authorize: () => 'admin', backgroundTasks: false })
    const hono = new Hono().all('/jobs/*', (c) => handler(c.req.raw, c.env as never))
    const server = serveHono({ fetch: hono.fetch, port: 0, hostname: '127.0.0.1' })
    await once(server, 'listening')
    ends.push(() => server.close())
    await expectWorks(`http://127.0.0.1:${(server.address() as AddressInfo).port}/jobs/api/v1`)
  })
})

describe('a handler in a server of Node', () => {
  const handlerOf = (answer: Handler extends (...given: infer G) => infer R ? (...given: G) => R : never): Handler =>
    Object.assign(answer, { basePath: '' })

  it('sends a stream as it comes, and ends it when its reader leaves', async () => {
    let cancelled = false
    let aborted: AbortSignal | undefined
    const url = await listening(
      toNodeHandler(
        handlerOf(async (request) => {
          aborted = request.signal
          const first = new TextEncoder().encode('data: first\n\n')
          const body = new ReadableStream({
            start: (controller) => controller.enqueue(first),
            cancel: () => {
              cancelled = true
            },
          })
          return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
        }),
      ),
    )
    const leaving = new AbortController()
    const answer = await fetch(url, { signal: leaving.signal })
    const { value } = await answer.body!.getReader().read()
    expect(new TextDecoder().decode(value)).toBe('data: first\n\n')
    leaving.abort()
    await expect.poll(() => [cancelled, aborted?.aborted], { timeout: 30_000 }).toEqual([true, true])
  })

  it('waits for a slow reader instead of holding the answer in memory', async () => {
    const part = new Uint8Array(256 * 1024)
    let made = 0
    const url = await listening(
      toNodeHandler(
        handlerOf(async () => {
          const pull = (controller: ReadableStreamDefaultController): void => {
            controller.enqueue(part)
            if (++made === 400) controller.close()
          }
          return new Response(new ReadableStream({ pull }))
        }),
      ),
    )
    const answer = await fetch(url)
    const reader = answer.body!.getReader()
    await reader.read()
    expect(made).toBeLessThan(400)
    let size = part.length - part.length
    for (let read = await reader.read(); !read.done; read = await reader.read()) size += read.value.length
    expect(made).toBe(400)
    expect(size).toBeGreaterThan(399 * part.length - part.length)
  })

  it('hands over method, address, every header and every cookie', async () => {
    const url = await listening(
      toNodeHandler(
        handlerOf(async (request, env) => {
          const facts = [request.method, new URL(request.url).search, request.headers.get('x-a')]
          const headers = new Headers([
            ['set-cookie', 'a=1'],
            ['set-cookie', 'b=2'],
          ])
          return Response.json([...facts, env?.incoming?.socket?.remoteAddress], { headers })
        }),
      ),
    )
    const answer = await fetch(`${url}//other.example/x?q=1`, { headers: { 'x-a': 'b' } })
    expect(await answer.json()).toEqual(['GET', '?q=1', 'b', '127.0.0.1'])
    expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  })

  it('keeps the requests of one mount point from another that begins alike', async () => {
    const url = await listening(express().use(mountedAt('/jobs')))
    expect((await fetch(`${url}/jobs/api/v1/healthz`)).status).toBe(200)
    expect((await fetch(`${url}/jobsandmore/api/v1/healthz`)).status).toBe(404)
  })
})

describe.each(['express', 'fastify'])('the example for %s', (name) => {
  beforeAll(ensureBuilt)

  it('does what its page says', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'everytick-example-'))
    ends.push(() => rmSync(folder, { recursive: true, force: true }))
    const env = { ...process.env, PORT: '0', ADMIN_TOKEN: 'secret', DATABASE_URL: `sqlite:${join(folder, 'a.db')}` }
    const child: ChildProcess = spawn(process.execPath, [join(root, 'examples', name, 'server.mjs')], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(child, 'exit')
    ends.push(() => child.kill('SIGKILL'))
    const [api] = (await once(createInterface(child.stdout!), 'line')) as [string]
    const authorization = 'Bearer secret'
    const made = await fetch(`${api}/schedules`, {
      ...json({ key: 'mine', every: '1h', job: 'hello' }),
      headers: { 'content-type': 'application/json', authorization },
    })
    expect(made.status).toBe(201)
    const listed = (await (await fetch(`${api}/schedules`, { headers: { authorization } })).json()) as {
      data: { key: string }[]
    }
    expect(listed.data.map(({ key }) => key).toSorted()).toEqual(['mine', 'nightly-hello'])
    expect((await fetch(`${api}/schedules`)).status).toBe(401)
    expect(await (await fetch(new URL('/', api))).text()).toBe('my app')
    const events = await fetch(`${api}/events`, { headers: { authorization } })
    expect(events.headers.get('content-type')).toContain('text/event-stream')
    await events.body!.cancel()
    child.kill('SIGTERM')
    // The app stops in good order, and then lets the signal end the process.
    expect(await ended).toEqual([null, 'SIGTERM'])
  })
})
