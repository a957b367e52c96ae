/** The command target: a job that runs a program, or one of those on a list; how one is executed is `execute.ts`. */
import type { JobContext } from '../../engine/context.ts'
import { defineJob, type Job, type PayloadInput, WORK_KEYS, type WorkOptions } from '../../job.ts'
import {
  checkKeys,
  type Duration,
  readDuration,
  readInteger,
  readList,
  readName,
  readText,
  refused,
} from '../../options.ts'
import type { PayloadSchema } from '../../scheduler/payload.ts'
import { type AllowedCommand, type CommandPayload, payloadOf, readAllowList } from './allowed.ts'
import { OF_CODE, readArguments, readPath } from './arguments.ts'
import type { CommandResult } from './ending.ts'
import { type EnvironmentOption, environmentOf, readEnvironment } from './environment.ts'
import { execute } from './execute.ts'
import { rememberCommand } from './spoken.ts'

type Output<Schema> = Schema extends PayloadSchema ? NonNullable<Schema['~standard']['types']>['output'] : undefined

interface ProcessOptions extends WorkOptions {
  /** Environment variables, in addition to a few standard ones and the facts of the run; the environment of the worker is not inherited. */
  readonly env?: EnvironmentOption
  readonly cwd?: string
  /** How many bytes of output to store in the log of the run; 128 KiB when absent. */
  readonly maxOutput?: number
  /** The time between SIGTERM and SIGKILL; `10s` when absent. */
  readonly killAfter?: Duration
  /** Exit codes that fail the run without a retry. */
  readonly discardOn?: readonly number[]
}

export interface CommandOptions<Schema extends PayloadSchema | undefined = undefined> extends ProcessOptions {
  readonly name: string
  /** A program: a path, or a name that is searched in PATH. With `shell`, a shell script. */
  readonly file: string
  /** Passed unchanged, without quoting or globbing. */
  readonly args?: readonly string[] | ((payload: Output<Schema>) => readonly string[])
  /** `true` for /bin/sh, or the path of another shell. `args` become $1, $2 and so on. */
  readonly shell?: boolean | string
  /** The standard input; when absent the payload as JSON, or nothing without a payload. */
  readonly stdin?: string
  readonly payload?: Schema
  readonly redact?: readonly string[]
}

/** One job for all commands of an allow-list, for schedules created over REST or with the CLI. */
export interface AllowedCommandOptions extends ProcessOptions {
  /** `command` when absent. */
  readonly name?: string
  readonly allow: readonly AllowedCommand[]
}

const PROCESS_KEYS = ['name', 'env', 'cwd', 'maxOutput', 'killAfter', 'discardOn', ...WORK_KEYS]
const ONE_KEYS = ['file', 'args', 'shell', 'stdin', 'payload', 'redact', ...PROCESS_KEYS]
const LIST_KEYS = ['allow', ...PROCESS_KEYS]
const MAX_OUTPUT = 240 * 1024

export function command<Schema extends PayloadSchema | undefined = undefined>(
  options: CommandOptions<Schema>,
): Job<PayloadInput<Schema>, CommandResult>
export function command(options: AllowedCommandOptions): Job<CommandPayload, CommandResult>
export function command(options: CommandOptions<PayloadSchema | undefined> | AllowedCommandOptions): Job {
  const isList = typeof options === 'object' && options !== null && 'allow' in options
  checkKeys(options, isList ? LIST_KEYS : ONE_KEYS, 'a command')
  return isList ? listedJob(options) : singleJob(options as CommandOptions<PayloadSchema | undefined>)
}

function singleJob(options: CommandOptions<PayloadSchema | undefined>): Job {
  const name = readName(options.name, 'the name of a command')
  const of = `command "${name}"`
  const how = readHow(options, of)
  const { shell, stdin, payload: schema, args = [] } = options
  const file = readPath(options.file, `${of}: file`)
  const interpreter = readShell(shell, of)
  const text = stdin === undefined ? null : readText(stdin, `${of}: stdin`, OF_CODE.length)
  const fixed = typeof args === 'function' ? null : readArguments(args, `${of}: args`, OF_CODE)
  const wordsOf = (payload: unknown): readonly string[] =>
    fixed ?? readArguments((args as (payload: unknown) => unknown)(payload), `${of}: args`, OF_CODE)
  const job = defineJob<CommandResult, PayloadSchema | undefined>({
    ...jobOptions(options, name),
    ...(schema !== undefined && { payload: schema }),
    ...(options.redact !== undefined && { redact: options.redact }),
    run(...given: readonly unknown[]) {
      const ctx = given.at(-1) as JobContext
      const payload = schema === undefined ? undefined : given[0]
      const words = wordsOf(payload)
      const input = text ?? (schema === undefined ? null : JSON.stringify(payload ?? null))
      const program =
        interpreter === null ? { file, args: words } : { file: interpreter, args: ['-c', file, name, ...words] }
      const call = { ...program, env: environmentOf(how.env, ctx), cwd: how.cwd, stdin: input }
      return execute(call, how, { ctx, shownFile: interpreter === null ? file : null })
    },
  })
  rememberCommand(job, { file, args: fixed, shell: interpreter, stdin: text, cwd: how.cwd, env: how.env })
  return job
}

function listedJob(options: AllowedCommandOptions): Job {
  const name = options.name === undefined ? 'command' : readName(options.name, 'the name of a command')
  const of = `command "${name}"`
  const how = readHow(options, of)
  const list = readAllowList(options.allow, of)
  return defineJob({
    ...jobOptions(options, name),
    payload: payloadOf(list),
    run({ command: asked, args = [] }: CommandPayload, ctx: JobContext) {
      const { file, args: first, env, cwd } = list.get(asked)!
      const all = environmentOf({ ...how.env, ...env }, ctx)
      const call = { file, args: [...first, ...args], env: all, cwd: cwd ?? how.cwd, stdin: null }
      return execute(call, how, { ctx, shownFile: file })
    },
  })
}

function jobOptions(options: ProcessOptions, name: string): WorkOptions & { readonly name: string } {
  const said = WORK_KEYS.filter((key) => options[key] !== undefined).map((key) => [key, options[key]])
  return { name, ...(Object.fromEntries(said) as WorkOptions) }
}

function readHow({ env, cwd, maxOutput, killAfter, discardOn }: ProcessOptions, of: string) {
  return Object.freeze({
    env: readEnvironment(env, of),
    cwd: cwd === undefined ? null : readPath(cwd, `${of}: cwd`),
    maxBytes: readInteger(maxOutput ?? 128 * 1024, `${of}: maxOutput`, [0, MAX_OUTPUT]),
    killAfterMs: readDuration(killAfter ?? '10s', `${of}: killAfter`),
    discardOn: readList(discardOn ?? [], `${of}: discardOn`, [0, 255]).map((code) =>
      readInteger(code, `${of}: discardOn`, [1, 255]),
    ),
  })
}

function readShell(shell: unknown, of: string): string | null {
  if (shell === undefined || shell === false) return null
  if (shell === true) return '/bin/sh'
  if (typeof shell === 'string' && shell.startsWith('/')) return readPath(shell, `${of}: shell`)
  throw refused(`${of}: shell must be true, false or the absolute path of a shell`)
}
