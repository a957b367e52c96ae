/** `everytick serve` and `everytick keys`, by the built program: closed by default, a first key, and an orderly end. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { ensureBuilt, root, runNode } from './built-package.ts'
import { createDatabase } from './postgres/launcher.ts'

const PROGRAM = 'dist/cli/main.js'
const children = new Set<ChildProcessWithoutNullStreams>()
const ends: (() => Promise<void> | void)[] = []

beforeAll(ensureBuilt)
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  for (const end of ends) await end()
})

const PLACES = {
  async sqlite() {
    const folder = mkdtempSync(join(tmpdir(), 'everytick-serve-'))
    ends.push(() => rmSync(folder, { recursive: true, force: true }))
    return `sqlite:${join(folder, 'everytick.db')}`
  },
  async postgres() {
    const database = await createDatabase(inject('postgres'))
    ends.push(() => database.drop())
    return database.url
  },
}

/** Starts the server; answers what it printed once it listens, and how to end it. */
async function started(
  args: readonly string[],
): Promise<{ url: string; out: () => string; stop: () => Promise<number | null> }> {
  const child = spawn(process.execPath, [PROGRAM, 'serve', '--port', '0', ...args], { cwd: root })
  children.add(child)
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (out += text))
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
  await expect.poll(() => out, { timeout: 20_000 }).toContain('Ctrl-C stops.')
  const stop = (): Promise<number | null> => {
    child.kill('SIGTERM')
    return ended
  }
  return { url: /api\s+(http\S+)\/api\/v1/.exec(out)![1]!, out: () => out, stop }
}

/** Makes a key by the program, serves by it, and looks that those with the key are served and nobody else; the id of the key. */
async function serveByKey(db: string): Promise<string> {
  expect(runNode(PROGRAM, 'migrate', '--db', db).code).toBe(0)
  const { code, out } = runNode(PROGRAM, 'keys', 'create', '--db', db, '--name', 'ops', '--scope', 'admin', '--json')
  const key = JSON.parse(out)
  const { id, token } = key
  expect([code, key]).toMatchObject([0, { name: 'ops', scope: 'admin', workspace: null, revokedAt: null }])
  expect(token).toMatch(/^evt_ad_[\w-]{65}$/)
  const { url, stop } = await started(['--db', db])
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  expect((await fetch(`${url}/api/v1/schedules`)).status).toBe(401)
  const body = JSON.stringify({ key: 'x', every: '1h', job: 'of-a-worker', payload: { a: 1 } })
  const made = await fetch(`${url}/api/v1/schedules`, { method: 'POST', headers, body })
  expect(made.status).toBe(201)
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
  expect(await stop()).toBe(0)
  return id
}

describe('everytick serve on sqlite', () => {
  const refusal = (db: string) => runNode(PROGRAM, 'serve', '--db', db, '--port', '0')

  it('refuses to start without a key, serves by one, and refuses again when it was revoked', async () => {
    const db = await PLACES.sqlite()
    const { code, err } = refusal(db)
    expect(code).toBe(4)
    expect(err).toMatch(/no API key yet/)
    expect(err).toMatch(/everytick keys create[\s\S]*--setup/)
    const id = await serveByKey(db)
    expect(runNode(PROGRAM, 'keys', 'revoke', id, '--db', db).code).toBe(0)
    expect(refusal(db).code).toBe(4)
  })

  it('with --setup prints a link that makes the first key, once', async () => {
    const { url, out, stop } = await started(['--db', await PLACES.sqlite(), '--setup'])
    const link = /setup (http\S+)/.exec(out())![1]!
    expect(await (await fetch(link)).text()).toContain('Create the first key')
    const form = { method: 'POST', body: new URLSearchParams({ invite: new URL(link).searchParams.get('invite')! }) }
    const page = await (await fetch(link, form)).text()
    const token = /evt_ad_[\w-]{65}/.exec(page)![0]
    expect((await fetch(`${url}/api/v1/session`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200)
    expect((await fetch(link, form)).status).toBe(403)
    await stop()
  })

  it('ends and says so when its port is taken, or its host is none of this machine', async () => {
    const db = await PLACES.sqlite()
    const { url, stop } = await started(['--db', db, '--setup'])
    const { port } = new URL(url)
    const taken = runNode(PROGRAM, 'serve', '--db', db, '--setup', '--port', port)
    expect([taken.code, taken.err]).toEqual([1, expect.stringContaining(`port ${port} is already in use`)])
    expect(taken.err).toContain('--port 0')
    const foreign = runNode(PROGRAM, 'serve', '--db', db, '--setup', '--port', '0', '--host', '192.0.2.1')
    expect([foreign.code, foreign.err]).toEqual([1, expect.stringContaining('--host takes an address of this machine')])
    expect(await stop()).toBe(0)
  })
})

describe('everytick serve on postgres', () => {
  it('serves those who have a key, keeps schedules of jobs it does not have, and ends on SIGTERM', async () => {
    await serveByKey(await PLACES.postgres())
  })
})
