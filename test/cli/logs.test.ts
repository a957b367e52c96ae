/** What `worker` and `serve` log, by the built program: one line for each entry, for people or programs, and few of them while the database is away. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt } from '../built-package.ts'
import { createReadyDatabase } from '../postgres/ready-database.ts'
import { everytick } from './running.ts'

beforeAll(ensureBuilt)
const ends: (() => Promise<void> | void)[] = []
afterAll(async () => {
  for (const end of ends) await end()
})

const HOSTILE = String.raw`two\nlines \u001b[2J \u0085 %s %d`

function project(store = 'sqlite:./everytick.db'): string {
  const folder = mkdtempSync(join(tmpdir(), 'everytick-logs-'))
  ends.push(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(
    join(folder, 'everytick.config.mjs'),
    `import { defineConfig, defineJob, schedule } from 'everytick'
    const says = defineJob({ name: 'says', run(ctx) { ctx.log.info('${HOSTILE}', { '${HOSTILE}': '${HOSTILE}' }) } })
    const fails = defineJob({ name: 'fails', retry: { attempts: 1 }, run() { throw new Error('${HOSTILE}') } })
    export default defineConfig({
      store: ${JSON.stringify(store)}, jobs: [says, fails],
      schedules: [says, fails].map((job) => schedule({ key: job.name, every: '1s', job })),
    })`,
  )
  return folder
}

interface Entry {
  readonly time: string
  readonly level: string
  readonly message: string
  readonly [name: string]: unknown
}

const entriesOf = (shown: string): Entry[] =>
  shown
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Entry)

describe('the log of a process', () => {
  it('as JSON is one object on each line, from the start to the stop, with changes, planning, leadership and failures', async () => {
    const worker = everytick(['worker', '--plan', '--log-format', 'json', '--log-level', 'debug'], { cwd: project() })
    await worker.heard(/"job \\"fails\\" failed/)
    await worker.heard(/"message":"two/)
    await worker.heard('planned')
    worker.interrupt()
    expect(await worker.ended).toBe(0)
    const entries = entriesOf(worker.shown())
    for (const { time, level, message } of entries) {
      expect(new Date(time).toISOString()).toBe(time)
      expect(['debug', 'info', 'warn', 'error']).toContain(level)
      expect(message).not.toBe('')
    }
    const find = (text: string): Entry | undefined => entries.find(({ message }) => message.includes(text))
    expect(find('2 schedules created')).toMatchObject({ level: 'info', by: 'sync' })
    expect(find('planner and worker started')).toMatchObject({ level: 'info', jobs: ['says', 'fails'] })
    expect(find('this process now plans schedules')).toMatchObject({ level: 'info' })
    expect(find('planned')).toMatchObject({ level: 'debug' })
    expect(find('job "fails" failed')).toMatchObject({ level: 'error', schedule: 'fails' })
    expect(find('stopping')).toMatchObject({ level: 'info' })
  })

  it.each([
    ['a handle that is open', 'quick', '', 0, 'warn', /^still open when the command ended: 1 timer/],
    ['a drain that is too short', 'hung', '', 1, 'error', /did not end within 200ms \(hung\)/],
    ['a second signal', 'hung', '1h', 143, 'warn', /^a second SIGTERM/],
  ] as const)('as JSON holds nothing else when the process ends with %s', async (_, job, drain, code, level, text) => {
    const cwd = project()
    writeFileSync(
      join(cwd, 'everytick.config.mjs'),
      `import { defineConfig, defineJob, schedule } from 'everytick'
      setInterval(() => {}, 1000)
      const quick = defineJob({ name: 'quick', run(ctx) { ctx.log.info('at work') } })
      const hung = defineJob({ name: 'hung', run(ctx) { ctx.log.info('at work'); return new Promise(() => {}) } })
      export default defineConfig({ store: 'sqlite:./everytick.db', jobs: [quick, hung], schedules: [schedule({ key: 'a', every: '1s', job: ${job} })] })`,
    )
    const args = ['worker', '--plan', '--log-format', 'json', '--drain', drain || '200ms']
    const worker = everytick(args, { cwd })
    await worker.heard('at work')
    worker.child.kill('SIGTERM')
    await worker.heard('stopping')
    const again = drain === '' ? null : setInterval(() => worker.child.kill('SIGTERM'), 700)
    expect(await worker.ended).toBe(code)
    if (again) clearInterval(again)
    expect(entriesOf(worker.shown())).toContainEqual(
      expect.objectContaining({ level, message: expect.stringMatching(text), time: expect.any(String) }),
    )
  })

  it('as JSON says too why a process does not start', async () => {
    const args = ['worker', '--log-format=json', '--db', 'postgres://nobody@127.0.0.1:1/none']
    const worker = everytick(args, { cwd: project(), env: {} })
    expect(await worker.ended).toBe(1)
    expect(entriesOf(worker.shown()).at(-1)).toMatchObject({ level: 'error', code: 'STORE_UNREACHABLE' })
  })

  it('as text is one line for each entry with time and level, whatever the data holds', async () => {
    const worker = everytick(['worker', '--plan'], { cwd: project() })
    await worker.heard(/ERROR job "fails" failed/)
    await worker.heard(/INFO {2}two/)
    worker.interrupt()
    expect(await worker.ended).toBe(0)
    const shown = worker.shown()
    expect(shown.replaceAll('\n', '')).not.toMatch(/\p{C}/u)
    expect(shown).toContain('%s %d')
    const others = shown.split('\n').filter((line) => !/^\d{4}-\d\d-\d\dT[\d:.]+Z (?:INFO |WARN |ERROR) /.test(line))
    // What the process says of itself to people.
    expect(others.map((line) => line.trim().split(/\s+/)[0])).toEqual([
      'everytick',
      'jobs',
      'queues',
      'Ctrl-C',
      'stopping:',
      '',
    ])
  })

  it('has only the levels that were asked for', async () => {
    const worker = everytick(['worker', '--plan', '--log-level', 'error'], { cwd: project() })
    await worker.heard(/ERROR job "fails" failed/, 2)
    worker.interrupt()
    expect(await worker.ended).toBe(0)
    expect(worker.shown()).not.toMatch(/ (?:DEBUG|INFO|WARN) /)
  })

  it('refuses formats and levels that there are not', async () => {
    const wrong = everytick(['serve', '--log-format', 'xml'], { cwd: project() })
    expect(await wrong.ended).toBe(2)
    expect(wrong.shown()).toContain('text')
  })
})

/** Passes connections on until they are cut. */
async function cuttable(url: string): Promise<{ url: string; cut(): Promise<void>; restore(): Promise<void> }> {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  let server: Server
  const open = (port: number): Promise<number> =>
    new Promise((resolve) => {
      server = createServer((socket) => {
        const behind = connect(Number(target.port), target.hostname)
        for (const each of [socket, behind]) {
          sockets.add(each)
          each
            .on('error', () => {})
            .on('close', () => {
              sockets.delete(each)
              socket.destroy()
              behind.destroy()
            })
        }
        socket.pipe(behind).pipe(socket)
      })
      server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
    })
  const port = await open(0)
  const cut = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      for (const socket of sockets) socket.destroy()
    })
  const front = new URL(url)
  front.hostname = '127.0.0.1'
  front.port = String(port)
  ends.push(cut)
  return { url: front.href, cut, restore: async () => void (await open(port)) }
}

describe('while the database is away', () => {
  it('each loop logs one line in ten seconds, the first with a stack, and one when it works again', async () => {
    const database = await createReadyDatabase()
    ends.push(() => database.drop())
    const proxy = await cuttable(database.url)
    const args = ['serve', '--setup', '--port', '0', '--role', 'all', '--log-format', 'json']
    const serve = everytick(args, { cwd: project(proxy.url) })
    await serve.heard(/"message":"two/)
    await proxy.cut()
    await serve.heard(/planner still fails/)
    await proxy.restore()
    await serve.heard(/planner works again/)
    serve.interrupt()
    expect(await serve.ended).toBe(0)
    const failures = new Map<string, Entry[]>()
    for (const entry of entriesOf(serve.shown())) {
      const [, where] = /^(\S+) (?:failed|still fails)/.exec(entry.message) ?? []
      if (where !== undefined) failures.set(where, [...(failures.get(where) ?? []), entry])
    }
    expect([...failures.keys()]).toEqual(expect.arrayContaining(['planner', 'worker', 'reaper']))
    for (const entries of failures.values()) {
      const [first, ...others] = entries
      expect(JSON.stringify(first)).toContain('"stack"')
      expect(JSON.stringify(others)).not.toContain('"stack"')
      for (const [i, { time }] of others.entries())
        expect(Date.parse(time) - Date.parse(entries[i]!.time)).toBeGreaterThan(9500)
    }
  }, 120_000)
})
