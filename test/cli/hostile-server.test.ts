/** Walks all commands against a server that spoils every answer: nothing but printable text is shown, memory stays bounded, and the command ends with a code of the catalogue. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLI_CODES, EXIT_OF } from '../../src/cli/exit.ts'
import { type Ending, ensureBuilt } from '../built-package.ts'
import { CALLS, everyCommand, INPUTS, type KnownCommand } from './every-command.ts'
import { BODIES, EVIL, type HostileProxy, hostileProxy, SPOILS } from './hostile-proxy.ts'
import { runInProcess } from './in-process.ts'
import { openPlace, type Place } from './places.ts'
import { PROGRAM } from './running.ts'

const LONG_MS = 600_000
/** No command that is not watching takes as long as that. */
const ENOUGH_MS = 3000
/** Less than an answer without an end would fill. */
const HEAP_MB = 300

let folder = ''
let place: Place
let proxy: HostileProxy
let commands: readonly KnownCommand[] = []
let ids: { run: string; channel: string; key: string; worker: string; backfill: string; op: string }

beforeAll(async () => {
  ensureBuilt()
  folder = mkdtempSync(join(tmpdir(), 'everytick-hostile-'))
  for (const [name, text] of Object.entries(INPUTS)) writeFileSync(join(folder, name), text)
  place = await openPlace('a server')
  proxy = await hostileProxy(place.where[1]!)
  commands = (await everyCommand()).filter(({ flags }) => flags.includes('--url'))
  ids = await seed()
}, 120_000)
afterAll(async () => {
  await proxy?.[Symbol.asyncDispose]()
  await place?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

/** Something of every kind, so that every table has rows. */
async function seed(): Promise<typeof ids> {
  const { app } = place
  const own = async <T>(...args: string[]): Promise<T> => {
    const { out, err } = await place.run(...args, '--json')
    if (out === '') throw new Error(err)
    return JSON.parse(out) as T
  }
  await own('schedules', 'create', 'a-schedule', '--every', '5m', '--job', 'plain')
  await own('schedules', 'create', 'bad', '--every', '5h', '--job', 'failing')
  await app.runs.wait((await own<{ id: string }>('trigger', 'bad')).id).catch(() => {})
  const run = await own<{ id: string }>('trigger', 'a-schedule')
  await app.runs.wait(run.id)
  const channel = await own<{ id: string }>('channels', 'add', 'chan', '--kind', 'log')
  const key = await own<{ id: string }>('keys', 'create', '--name', 'k2')
  const workers = await own<{ id: string }[]>('workers', 'ls')
  const span = ['--from', '2026-01-01T00:00:00Z', '--to', '2026-01-01T00:20:00Z', '--yes', '--detach']
  const backfill = await own<{ id: string }>('backfill', 'a-schedule', ...span)
  const op = await own<{ id: string }>('runs', 'retry', '--where', 'all', '--yes', '--detach')
  await own('queues', 'pause', 'a-queue')
  return { run: run.id, channel: channel.id, key: key.id, worker: workers[0]!.id, backfill: backfill.id, op: op.id }
}

/** The usual call, with ids of things that there are. */
function callOf({ path }: KnownCommand): string[] {
  const [group = ''] = path.split(' ')
  const id = {
    runs: ids.run,
    channels: ids.channel,
    keys: ids.key,
    workers: ids.worker,
    backfill: ids.backfill,
    ops: ids.op,
  }[group]
  const args = (CALLS[path] ?? []).map((arg) => (id !== undefined && /^01900000-/.test(arg) ? id : arg))
  return [...path.split(' '), ...args.filter((arg) => arg !== '--dry-run' || path !== 'keys create')]
}

const { DATABASE_URL: _db, EVERYTICK_URL: _url, EVERYTICK_TOKEN: _token, ...around } = process.env
const target = (): string[] => ['--url', proxy.url, '--token', place.where[3]!]

/** In a process of its own, with little memory. */
function spawned(args: readonly string[]): Promise<Ending> {
  const words = [`--max-old-space-size=${HEAP_MB}`, PROGRAM, ...args, ...target()]
  const child = spawn(process.execPath, words, {
    cwd: folder,
    env: { ...around, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })))
}

/** In this process, since a walk of all commands has hundreds of calls. */
async function run(args: readonly string[], terminal = false): Promise<Ending> {
  // What is watched goes on for as long as the server says; a Ctrl-C ends that.
  const enough = setInterval(() => process.emit('SIGINT'), ENOUGH_MS)
  // Colours are control characters too, and not the server's.
  const env = { ...around, NO_COLOR: '1' }
  return runInProcess([...args, ...target()], { cwd: folder, env, terminal }).finally(() => clearInterval(enough))
}

const UNSAFE = /[^\P{C}\n\t]|[\p{Zl}\p{Zp}]/u
const KNOWN = new Set([...Object.keys(EXIT_OF), ...Object.keys(CLI_CODES)])

/** What is wrong with how a command ended; empty when nothing is. */
function faultsOf({ code, out, err }: Ending, isJson: boolean): string[] {
  const shown = out + err
  const unsafe = UNSAFE.exec(shown)
  const last = err.split('\n').findLast((line) => /^(?:[A-Z_]+:|\{"code")/.test(line)) ?? ''
  const named = /^(?:\{"code":")?([A-Z_]+)/.exec(last)?.[1]
  return [
    ...(unsafe
      ? [
          `shows U+${unsafe[0].codePointAt(0)!.toString(16)} after ${JSON.stringify(shown.slice(Math.max(0, unsafe.index - 60), unsafe.index))}`,
        ]
      : []),
    ...(/^\s*FORGED/m.test(shown) ? [`a forged line: ${JSON.stringify(shown.slice(0, 300))}`] : []),
    ...(code === null || code < 0 || code > 5 ? [`ended with ${code}: ${shown.slice(-300)}`] : []),
    ...(code !== 0 && (named === undefined || !KNOWN.has(named))
      ? [`no code: ${JSON.stringify(err.slice(0, 300))}`]
      : []),
    ...(named === 'INTERNAL' ? [`INTERNAL: ${err.slice(0, 400)}`] : []),
    ...(isJson && code === 0 && out !== '' && !out.trimEnd().split('\n').every(isJsonText)
      ? [`no JSON: ${out.slice(0, 200)}`]
      : []),
  ]
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

async function walk(more: readonly string[] = [], terminal = false): Promise<Record<string, string[]>> {
  const isJson = more.includes('--json')
  const found: [string, string[]][] = []
  for (const command of commands)
    found.push([command.path, faultsOf(await run([...callOf(command), ...more], terminal), isJson)])
  return Object.fromEntries(found.filter(([, faults]) => faults.length > 0))
}

describe('against a hostile server', () => {
  it('this test has a call of every command that takes --url', () => {
    expect(commands.length).toBeGreaterThan(50)
    expect(commands.filter(({ path }) => CALLS[path] === undefined)).toEqual([])
  })

  it.each(SPOILS)(
    'every command shows printable text only, when it spoils the %s',
    async (kind) => {
      proxy.kind = kind
      const before = proxy.requests
      expect(await walk()).toEqual({})
      expect(proxy.requests - before).toBeGreaterThan(50)
    },
    LONG_MS,
  )

  it(
    'as it does on a terminal, and as JSON',
    async () => {
      for (const kind of ['texts', 'instants'] as const) {
        proxy.kind = kind
        expect(await walk([], true), kind).toEqual({})
      }
      proxy.kind = 'texts'
      expect(await walk(['--json'])).toEqual({})
    },
    LONG_MS,
  )

  const LISTS: readonly (readonly string[])[] = [
    ['runs', 'ls', '--all'],
    ['runs', 'get'],
    ['runs', 'logs'],
    ['runs', 'logs', '-f'],
    ['doctor'],
    ['export', 'crontab'],
  ]
  it.each(BODIES)(
    'commands end with a code and in bounded memory, when the body is: %s',
    async (kind) => {
      proxy.kind = kind
      const check = async (words: readonly string[]): Promise<readonly [string, readonly string[]]> => {
        const args = words.includes('get') || words.includes('logs') ? [...words, ids.run] : words
        const ending = await run(args)
        const silent = ending.code === 0 ? [`ended with 0: ${ending.out.slice(0, 200)}`] : []
        return [words.join(' '), [...faultsOf(ending, false), ...silent]]
      }
      const found = await Promise.all(LISTS.map(check))
      expect(Object.fromEntries(found.filter(([, faults]) => faults.length > 0))).toEqual({})
    },
    LONG_MS,
  )

  it('does not hand the key to an address that only the server names', async () => {
    await using other = await hostileProxy('http://127.0.0.1:9')
    other.kind = 'no JSON'
    proxy.kind = 'redirect away'
    expect((await run(['runs', 'ls'])).err).toMatch(
      /^SERVER_FAILED: the server redirects this request \(302\): http:\/\/169/,
    )
    expect(other.requests).toBe(0)
  })

  it(
    'a process with little memory ends with a code, whatever is sent without an end',
    async () => {
      for (const kind of ['endless', 'endless events'] as const) {
        proxy.kind = kind
        const ending = await spawned(['runs', 'logs', ids.run, '-f'])
        expect([kind, ending.code, ending.err]).toEqual([kind, 1, expect.stringMatching(/^SERVER_FAILED: the server/)])
      }
    },
    LONG_MS,
  )

  it('has evil that would be noticed', () => {
    expect(faultsOf({ code: 0, out: EVIL, err: '' }, false).length).toBeGreaterThan(1)
  })
})
