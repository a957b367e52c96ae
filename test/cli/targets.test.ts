/** Jobs that need no code, by the built program: calls over HTTP and commands of a list, for schedules that are made over REST. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { everytick as createApp, type Everytick } from '../../src/index.ts'
import { coreOf } from '../../src/scheduler/core.ts'
import { ensureBuilt } from '../built-package.ts'
import { receiver, SECRET } from '../server/receiver.ts'
import { runProgram } from './places.ts'
import { everytick, type Running } from './running.ts'

beforeAll(ensureBuilt)
const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'everytick-targets-'))
  folders.push(folder)
  return folder
}

interface Server {
  readonly running: Running
  readonly db: string
  ask(path: string, body?: unknown): Promise<{ status: number; body: Record<string, unknown> }>
}

/** Serves and works on an empty SQLite file, where there is no configuration. */
async function served(args: readonly string[], env: Record<string, string> = {}): Promise<Server> {
  const cwd = newFolder()
  const db = `sqlite:${join(cwd, 'everytick.db')}`
  expect((await runProgram(['migrate', '--db', db])).code).toBe(0)
  const made = await runProgram(['keys', 'create', '--db', db, '--name', 'test', '--scope', 'admin', '--json'])
  const { token } = JSON.parse(made.out) as { token: string }
  const running = everytick(['serve', '--role', 'all', '--db', db, '--port', '0', ...args], { cwd, env })
  await running.heard('Ctrl-C stops.')
  return { running, db, ask: asking(/api\s+(http\S+)\/api\/v1/.exec(running.shown())![1]!, token) }
}

const asking =
  (url: string, token?: string): Server['ask'] =>
  async (path, body) => {
    const headers = {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    }
    const sent = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
    const answer = await fetch(`${url}/api/v1${path}`, sent)
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }

/** The runs that have ended. */
async function ended({ ask }: Server): Promise<Record<string, unknown>[]> {
  const { body } = await ask('/runs?status=succeeded,failed')
  return body.data as Record<string, unknown>[]
}

function program(folder: string, name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, `#!/bin/sh\n${text}\n`)
  chmodSync(path, 0o755)
  return path
}

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('everytick serve --role all --http', () => {
  it('calls what a schedule made over REST says, signed with a secret of the environment, which nobody is shown', async () => {
    await using hook = await receiver()
    const env = { EVERYTICK_SECRET_HOOK: SECRET, EVERYTICK_SECRET_HOOK_HOSTS: 'example.com, 127.0.0.1' }
    const server = await served(['--http', '--allow-private'], env)
    expect(server.running.shown()).toMatch(/^ {2}jobs {2}http$/m)
    const payload = { url: hook.url, secret: 'HOOK', body: { hello: 'there' } }
    expect((await server.ask('/schedules', { key: 'call', every: '1s', job: 'http', payload })).status).toBe(201)
    const heard = await hook.next()
    expect(heard).toMatchObject({ method: 'POST', path: '/hook', signed: true })
    expect(heard.body).toMatchObject({ schedule: { key: 'call' }, payload: { hello: 'there' } })
    await expect.poll(() => ended(server), { timeout: 20_000 }).not.toEqual([])
    const [run] = await ended(server)
    expect(run).toMatchObject({ state: 'succeeded', job: 'http' })
    server.running.interrupt()
    expect(await server.running.ended).toBe(0)
    expect(server.running.shown() + JSON.stringify(run)).not.toContain(SECRET.slice('whsec_'.length))
  })

  it('calls nothing private unless it was allowed, and tells a secret to no other host than its own', async () => {
    await using hook = await receiver()
    const closed = await served(['--http'])
    const schedule = { key: 'call', every: '1s', job: 'http', payload: { url: hook.url } }
    expect((await closed.ask('/schedules', schedule)).status).toBe(422)
    closed.running.kill()
    const env = { EVERYTICK_SECRET_HOOK: SECRET, EVERYTICK_SECRET_HOOK_HOSTS: 'example.com' }
    const open = await served(['--http', '--allow-host', '127.0.0.1'], env)
    const payload = { url: hook.url, secret: 'HOOK' }
    await open.ask('/schedules', { ...schedule, payload, retry: { attempts: 1 } })
    await expect.poll(() => ended(open), { timeout: 20_000 }).not.toEqual([])
    expect((await ended(open))[0]).toMatchObject({ state: 'failed', error: { code: 'HTTP_SECRET_UNKNOWN' } })
    expect(hook.heard).toEqual([])
    open.running.kill()
  })
})

describe('everytick serve --role all --allow-command', () => {
  it('runs what is on its list, with little of its environment, and nothing else', async () => {
    const folder = newFolder()
    const file = program(
      folder,
      'greet',
      'echo "hello $EVERYTICK_SCHEDULE"; env | grep -c -e PLANTED -e DATABASE_URL || true',
    )
    const server = await served(['--allow-command', `greet=${file}`], { PLANTED: 'secret' })
    expect(server.running.shown()).toMatch(/^ {2}jobs {2}command$/m)
    const make = (payload: unknown) => server.ask('/schedules', { key: 'greet', every: '1s', job: 'command', payload })
    expect((await make({ command: '/bin/sh' })).status).toBe(422)
    expect((await make({ command: 'greet', args: ['x'] })).status).toBe(422)
    expect((await make({ command: 'greet' })).status).toBe(201)
    await expect.poll(() => ended(server), { timeout: 20_000 }).not.toEqual([])
    const [run] = await ended(server)
    const { body } = await server.ask(`/runs/${run!.id}`)
    expect(body).toMatchObject({ state: 'succeeded', result: { exitCode: 0, outputTail: 'hello greet\n0' } })
    server.running.kill()
  })
})

describe('everytick worker', () => {
  it('needs no configuration for commands; when it is killed, what it ran ends too', async () => {
    const cwd = newFolder()
    const db = `sqlite:${join(cwd, 'everytick.db')}`
    program(cwd, 'nap', 'sleep 600 & echo "$!"; wait')
    const worker = everytick(['worker', '--http', '--allow-command', 'nap=./nap', '--db', db], { cwd })
    await worker.heard('Ctrl-C stops.')
    expect(worker.shown()).toMatch(/jobs +http, command\n/)
    await using app = createApp({ store: db, jobs: [], foreignJobs: true, logger: quiet })
    await app.start({ role: 'scheduler' })
    await app.schedules.upsert({ key: 'nap', every: '1s', job: 'command', payload: { command: 'nap' } })
    const pid = await saidBy(app)
    expect(isAlive(pid)).toBe(true)
    worker.child.kill('SIGKILL')
    await expect.poll(() => isAlive(pid), { timeout: 20_000 }).toBe(false)
  })
})

/** The number that a run in flight has logged. */
async function saidBy(app: Everytick): Promise<number> {
  const { logs } = await coreOf(app).store()
  const look = async (): Promise<number> => {
    const [run] = await app.runs.list({ state: 'running' })
    const lines = run ? await logs.read(run.id, { limit: 1 }) : []
    return Number(lines[0]?.message ?? 0)
  }
  await expect.poll(look, { timeout: 30_000 }).toBeGreaterThan(0)
  return look()
}

describe('everytick dev', () => {
  it('has the job http without being asked', async () => {
    await using hook = await receiver()
    const dev = everytick(['dev', '--port', '0', '--allow-private'], { cwd: newFolder() })
    await dev.heard('Ctrl-C stops.')
    const ask = asking(/overview {3}(http:\/\/localhost:\d+)/.exec(dev.shown())![1]!)
    const schedule = { key: 'call', every: '1s', job: 'http', payload: { url: hook.url } }
    await expect.poll(async () => (await ask('/schedules', schedule)).status, { timeout: 20_000 }).toBe(201)
    expect(await hook.next()).toMatchObject({ method: 'POST' })
    dev.kill()
  })
})

describe('options that do not fit', () => {
  it.each<[string, readonly string[], RegExp]>([
    ['rules for calls without calls', ['worker', '--allow-private'], /--allow-private needs --http[\s\S]*Add --http/],
    ['a host that cannot be one', ['worker', '--http', '--allow-host', 'a b'], /OPTION_INVALID|USAGE/],
    ['a command without a file', ['worker', '--allow-command', 'backup'], /--allow-command takes name=file/],
    [
      'a command that is not there',
      ['worker', '--allow-command', 'x=/no/such/file'],
      /x: \/no\/such\/file does not exist/,
    ],
    [
      'a command twice',
      ['worker', '--allow-command', 'x=/bin/sh', '--allow-command', 'x=/bin/ls'],
      /"x" is listed twice/,
    ],
  ])('are refused: %s', async (_, args, message) => {
    const refused = everytick([...args, '--db', 'sqlite::memory:'], { cwd: newFolder() })
    expect(await refused.ended).toBe(2)
    expect(refused.shown()).toMatch(message)
  })

  it('are refused where the file exports an app, and where it has a job of that name', async () => {
    const cwd = newFolder()
    const write = (text: string): void =>
      writeFileSync(
        join(cwd, 'everytick.config.mjs'),
        `import { command, defineJob, everytick, http } from 'everytick'\n${text}`,
      )
    write("export default everytick({ store: 'sqlite::memory:', jobs: [] })")
    const app = everytick(['worker', '--http'], { cwd })
    expect(await app.ended).toBe(2)
    expect(app.shown()).toContain('exports an app, which --http cannot change')
    write('export default { jobs: [http()] }')
    const twice = everytick(['worker', '--http', '--db', 'sqlite::memory:'], { cwd })
    expect(await twice.ended).toBe(2)
    expect(twice.shown()).toContain('two jobs are named "http"')
  })
})
