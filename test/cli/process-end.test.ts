/** How the built program ends: whatever the user's code leaves open, whatever hangs, with all of its output and an exit code that tells the truth. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt } from '../built-package.ts'
import { createReadyDatabase } from '../postgres/ready-database.ts'
import { relayTo } from '../postgres/relay.ts'
import { everytick, PROGRAM, type Running } from './running.ts'

beforeAll(ensureBuilt)
const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** A project whose configuration has the jobs `quick` and `hung`, and runs `extra` when it is loaded. */
function project({ extra = '', schedules = '' } = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'everytick-end-'))
  folders.push(folder)
  writeFileSync(
    join(folder, 'everytick.config.mjs'),
    `import { defineConfig, defineJob, schedule } from 'everytick'
    import { createServer } from 'node:net'
    ${extra}
    const quick = defineJob({ name: 'quick', run() { console.log('quick ran in', process.pid) } })
    const hung = defineJob({ name: 'hung', run() { console.log('hung in', process.pid); return new Promise(() => {}) } })
    export default defineConfig({
      store: 'sqlite:./everytick.db', jobs: [quick, hung], schedules: [${schedules}],
    })`,
  )
  return folder
}

const INTERVAL = 'setInterval(() => {}, 1000)'
const INTERVAL_AND_SERVER = `${INTERVAL}; createServer().listen(0, '127.0.0.1')`
const HUNG = `schedule({ key: 'hung', every: '1s', job: hung, overlap: 'skip' })`
const QUICK = `schedule({ key: 'quick', every: '1h', job: quick })`
const SERVE = ['serve', '--setup', '--port', '0']

/** Again and again, since a second signal right after the first is taken for the same. */
async function signalUntilEnded(running: Running, signal: NodeJS.Signals): Promise<number | null> {
  const again = setInterval(() => running.child.kill(signal), 700)
  try {
    return await running.ended
  } finally {
    clearInterval(again)
  }
}

it.each([
  [
    'a worker thread',
    `import { Worker } from 'node:worker_threads'; new Worker('for (;;) {}', { eval: true })`,
    '1 worker thread',
  ],
  [
    'a child process',
    `import { spawn } from 'node:child_process'; const child = spawn('sleep', ['600']); process.on('exit', () => child.kill())`,
    '1 child process',
  ],
  [
    'a UDP socket',
    `import { createSocket } from 'node:dgram'; createSocket('udp4').bind(0, '127.0.0.1')`,
    '1 UDP socket',
  ],
])('a worker whose configuration holds %s ends in order and names it', async (_, extra, open) => {
  const worker = everytick(['worker', '--seconds', '0.1'], { cwd: project({ extra }) })
  expect([await worker.ended, worker.shown()]).toEqual([0, expect.stringMatching(new RegExp(`still open .*${open}`))])
})

describe('with a configuration that holds a timer and a server', () => {
  it.each([
    ['worker', ['worker'], 'SIGTERM'],
    ['serve', SERVE, 'SIGINT'],
  ] as const)('%s ends in order after one signal and says what was open', async (_, args, signal) => {
    const program = everytick(args, { cwd: project({ extra: INTERVAL_AND_SERVER }) })
    await program.heard('Ctrl-C stops.')
    program.child.kill(signal)
    expect(await program.ended).toBe(0)
    expect(program.shown()).toMatch(/stopping: no new/)
    expect(program.shown()).toMatch(/still open when the command ended: .*1 timer/)
    expect(program.shown()).toMatch(/1 TCP server/)
  })

  it('dev ends in order, its child too', async () => {
    const dev = everytick(['dev', '--port', '0'], {
      cwd: project({ extra: INTERVAL, schedules: QUICK.replace('1h', '1s') }),
    })
    await dev.heard(/quick ran in \d+/)
    dev.interrupt()
    expect(await dev.ended).toBe(0)
    expect(dev.shown()).toMatch(/ledger ✓/)
    expect(dev.shown()).toMatch(/still open when the command ended: 1 timer/)
    expect(isAlive(Number(/quick ran in (\d+)/.exec(dev.shown())![1]))).toBe(false)
  })

  it.each([
    ['sync', ['sync'], /1 created/],
    ['schedules ls', ['schedules', 'ls'], /still open/],
    ['worker --seconds', ['worker', '--seconds', '1'], /stopping/],
  ])('%s returns', async (_, args, said) => {
    const cwd = project({ extra: INTERVAL, schedules: QUICK })
    expect(await everytick(['migrate', '--db', 'sqlite:./everytick.db'], { cwd }).ended).toBe(0)
    const command = everytick(args, { cwd })
    expect(await command.ended).toBe(0)
    expect(command.shown()).toMatch(said)
    expect(command.shown()).toMatch(/still open when the command ended: 1 timer/)
  })

  it('a refusal keeps its exit code', async () => {
    const command = everytick(['worker', '--queues', ','], { cwd: project({ extra: INTERVAL }) })
    expect(await command.ended).toBe(2)
    expect(command.shown()).toMatch(/still open/)
  })

  it('writes everything to a reader that begins late', async () => {
    const many = `...Array.from({ length: 3000 }, (_, i) => schedule({ key: 'x'.repeat(100) + '-number-' + i, every: '1h', job: quick }))`
    const cwd = project({ extra: INTERVAL, schedules: many })
    const child = spawn(process.execPath, [PROGRAM, 'sync'], { cwd, env: { ...process.env, DATABASE_URL: '' } })
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
    let noted = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (noted += text))
    await expect.poll(() => noted, { timeout: 40_000 }).toContain('3000 created')
    // Longer than it waits for handles that close: what is still in its hands by then must not be lost.
    await pause(1500)
    let out = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
    expect(await ended).toBe(0)
    expect(out.match(/number-\d+/g)?.length).toBeGreaterThanOrEqual(3000)
    expect(out).toMatch(/number-2999\b.*\n$/)
    expect(noted).toMatch(/still open/)
  })
})

describe('with a handler that hangs', () => {
  it.each(['worker', 'serve'])('%s ends when the drain is over, with exit 1 and the name of the job', async (kind) => {
    const cwd = project({ schedules: HUNG })
    const program =
      kind === 'serve'
        ? everytick([...SERVE, '--role', 'all', '--drain', '1s'], { cwd })
        : everytick(['worker', '--drain', '1s'], { cwd })
    const planner = kind === 'worker' ? everytick(SERVE, { cwd }) : null
    await program.heard(/hung in \d+/)
    planner?.kill()
    program.child.kill('SIGTERM')
    expect(await program.ended).toBe(1)
    expect(program.shown()).toMatch(/DRAIN_EXCEEDED: 1 run did not end within 1s \(hung\)/)
  })

  it('dev ends when its drain is over, with exit 1', async () => {
    const dev = everytick(['dev', '--port', '0'], { cwd: project({ schedules: HUNG }) })
    await dev.heard(/hung in \d+/)
    dev.interrupt()
    expect(await dev.ended).toBe(1)
    expect(dev.shown()).toMatch(/DRAIN_EXCEEDED: 1 run did not end within 10s \(hung\)/)
  })

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('a second %s ends serve at once, with exit %d', async (signal, code) => {
    const serve = everytick([...SERVE, '--role', 'all', '--drain', '1h'], { cwd: project({ schedules: HUNG }) })
    await serve.heard(/hung in \d+/)
    serve.child.kill(signal)
    await serve.heard('stopping')
    expect(await signalUntilEnded(serve, signal)).toBe(code)
    expect(serve.shown()).toContain(`a second ${signal}`)
  })

  it('a second Ctrl-C ends dev and its child at once, with exit 130', async () => {
    const dev = everytick(['dev', '--port', '0'], { cwd: project({ schedules: HUNG }) })
    await dev.heard(/hung in \d+/)
    dev.interrupt()
    await dev.heard('stopping')
    expect(await signalUntilEnded(dev, 'SIGINT')).toBe(130)
    const pid = Number(/hung in (\d+)/.exec(dev.shown())![1])
    await expect.poll(() => isAlive(pid)).toBe(false)
  })
})

describe('with a database that no longer answers', () => {
  it('a worker ends all the same, soon after its drain, with exit 1 and what it could not do', async () => {
    const database = await createReadyDatabase()
    const relay = await relayTo(database.url)
    try {
      const worker = everytick(['worker', '--plan', '--drain', '1s', '--db', relay.url], {
        cwd: project({ schedules: QUICK.replace('1h', '1s') }),
      })
      await worker.heard(/quick ran in \d+/)
      relay.turn('silent')
      const toldAt = performance.now()
      worker.child.kill('SIGTERM')
      expect(await worker.ended).toBe(1)
      expect(performance.now() - toldAt).toBeLessThan(30_000)
      // Which of them depends on whether a result was on its way.
      expect(worker.shown()).toMatch(
        /^(?:STOP_TIMEOUT: the app did not stop within 16s|DRAIN_EXCEEDED: \d+ results? could not be written)/m,
      )
    } finally {
      await relay.close()
      await database.drop()
    }
  }, 120_000)
})

/** One that has ended and that nobody has asked after yet is not alive. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return existsSync('/proc/self/status') ? false : isKnown(pid)
  }
}

function isKnown(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
