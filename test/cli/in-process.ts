/**
 * Runs a command inside this process, as `main.ts` does it: a process for each of hundreds of calls was most of the time of all
 * tests. Calls may run side by side, since each has its own environment and streams. That the built program does the same is
 * shown by the sweeps of `no-config.test.ts`, which start every command, and by what `needsProcess` keeps out of here.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { calledCommand } from '../../src/cli/called-command.ts'
import { CONFIG_FILES, JOB_FILES } from '../../src/cli/config-file.ts'
import { problemJson, problemOf, problemText, withHelp } from '../../src/cli/problem.ts'
import { createProgram, isHelpShown } from '../../src/cli/program.ts'
import { screenText } from '../../src/cli/screen-text.ts'
import { unreadableAnswer } from '../../src/cli/server-answer.ts'
import type { Ending } from '../built-package.ts'

export interface CallSettings {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** What standard input holds. */
  readonly input?: string
  /** Standard output is a terminal, at which nobody types. */
  readonly terminal?: boolean
}

interface Call {
  readonly env: NodeJS.ProcessEnv
  readonly stdin: Readable
  readonly terminal: boolean
  err: string
}

const calls = new AsyncLocalStorage<Call>()

/** A property that each call has its own value of; outside of calls it stays what it was. */
function perCall<Key extends string>(target: { [key in Key]?: unknown }, key: Key, own: (call: Call) => unknown): void {
  const { get, value } = Object.getOwnPropertyDescriptor(target, key) ?? {}
  let usual = (): unknown => (get ? get.call(target) : value)
  Object.defineProperty(target, key, {
    configurable: true,
    enumerable: true,
    get() {
      const call = calls.getStore()
      return call ? own(call) : usual()
    },
    set(fresh: unknown) {
      usual = () => fresh
    },
  })
}
perCall(process, 'env', (call) => call.env)
perCall(process, 'stdin', (call) => call.stdin)
perCall(process.stdout, 'isTTY', (call) => call.terminal)
perCall(process.stderr, 'isTTY', () => false)

const write = process.stderr.write.bind(process.stderr) as (...args: unknown[]) => boolean
process.stderr.write = (...args: unknown[]): boolean => {
  const call = calls.getStore()
  if (call === undefined) return write(...args)
  call.err += String(args[0])
  return true
}

const SERVICES = ['dev', 'serve', 'worker', 'bench']
const ALWAYS_CONFIGURED = ['sync', 'cleanup', 'export']

/** What runs on, asks for signals or may load a configuration, which this process would load only once. */
export function needsProcess(args: readonly string[], cwd: string): boolean {
  if (SERVICES.includes(args[0]!) || args.some((arg) => /^(?:--(?:no-)?config|--version|-V)\b/.test(arg))) return true
  const isNamed = args.some((arg) => /^--(?:db|url)\b/.test(arg)) && !ALWAYS_CONFIGURED.includes(args[0]!)
  return !isNamed && [...CONFIG_FILES, ...JOB_FILES].some((name) => existsSync(join(cwd, name)))
}

/** A process has one folder: calls in another one wait until those of this one have ended. */
const inFlight = new Set<Promise<Ending>>()
const home = process.cwd()
let folder = home

async function inFolder(cwd: string, work: () => Promise<Ending>): Promise<Ending> {
  while (inFlight.size > 0 && folder !== cwd) await Promise.race(inFlight)
  folder = cwd
  process.chdir(cwd)
  const ending = work().finally(() => {
    inFlight.delete(ending)
    if (inFlight.size === 0) process.chdir(home)
  })
  inFlight.add(ending)
  return ending
}

export function runInProcess(args: readonly string[], settings: CallSettings): Promise<Ending> {
  const { cwd, env, input = '', terminal = false } = settings
  const call: Call = { env, stdin: Readable.from(input === '' ? [] : [Buffer.from(input)]), terminal, err: '' }
  return inFolder(cwd, () => calls.run(call, () => resultOf(args, call)))
}

async function resultOf(args: readonly string[], call: Call): Promise<Ending> {
  let out = ''
  const program = createProgram((text) => {
    out += text
  }, args)
  try {
    await program.parseAsync([...args], { from: 'user' })
    return { code: 0, out, err: call.err }
  } catch (error) {
    if (isHelpShown(error)) return { code: 0, out, err: call.err }
    const problem = withHelp(problemOf(unreadableAnswer(error)), calledCommand(program, args))
    const isJson = args.some((arg) => arg === '--json' || arg.startsWith('--json='))
    const text = screenText(isJson ? problemJson(problem) : problemText(problem, false))
    return { code: problem.exit, out, err: call.err + text }
  }
}
