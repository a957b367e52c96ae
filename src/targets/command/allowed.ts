/** Reads the allow-list of commands: which commands a payload may run by name, and with which arguments. */
import { isAbsolute, normalize } from 'node:path'
import { shown } from '../../errors.ts'
import { checkKeys, readList, readName, refused } from '../../options.ts'
import type { PayloadSchema } from '../../scheduler/payload.ts'
import { OF_CODE, OF_PAYLOAD, readArguments, readPath } from './arguments.ts'
import { type Environment, type EnvironmentOption, readEnvironment } from './environment.ts'

export interface AllowedCommand {
  /** The name that a payload uses. */
  readonly name: string
  /** The absolute path of the program; PATH is not searched. */
  readonly file: string
  /** Arguments that are always passed. */
  readonly args?: readonly string[]
  /** Which arguments a payload may add: none when absent, any with `true`, else those that match the whole pattern. */
  readonly extraArgs?: boolean | RegExp
  readonly env?: EnvironmentOption
  readonly cwd?: string
}

/** The payload of the generic command job. */
export interface CommandPayload {
  readonly command: string
  readonly args?: readonly string[]
}

export interface Allowed {
  readonly file: string
  readonly args: readonly string[]
  /** The pattern of additional arguments; null when none are allowed. */
  readonly extra: RegExp | null
  readonly env: Environment
  readonly cwd: string | null
}

export type AllowList = ReadonlyMap<string, Allowed>

const KEYS = ['name', 'file', 'args', 'extraArgs', 'env', 'cwd']
const MAX_ALLOWED = 1000
const ANYTHING = /^[\s\S]*$/

export function readAllowList(given: unknown, of: string): AllowList {
  const list = new Map<string, Allowed>()
  for (const each of readList(given, `${of}: allow`, [1, MAX_ALLOWED])) {
    checkKeys(each, KEYS, `${of}: an allowed command`)
    const { name: said, file, args, extraArgs, env, cwd } = each as AllowedCommand
    const name = readName(said, `${of}: the name of an allowed command`)
    const what = `${of}: allowed command "${name}"`
    if (list.has(name)) throw refused(`${what} is listed twice`)
    list.set(name, {
      file: readWholePath(file, `${what}: file`),
      args: readArguments(args ?? [], `${what}: args`, OF_CODE),
      extra: readExtra(extraArgs, what),
      env: readEnvironment(env, what),
      cwd: cwd === undefined ? null : readPath(cwd, `${what}: cwd`),
    })
  }
  return list
}

function readWholePath(value: unknown, what: string): string {
  const path = readPath(value, what)
  if (isAbsolute(path) && normalize(path) === path && !path.endsWith('/')) return path
  throw refused(`${what} is ${shown(path)}`, 'use the absolute path of a file, without . or ..')
}

function readExtra(value: unknown, what: string): RegExp | null {
  if (value === undefined || value === false) return null
  if (value === true) return ANYTHING
  if (!(value instanceof RegExp))
    throw refused(`${what}: extraArgs must be true, false or a regular expression, not ${shown(value)}`)
  // Matches the whole argument, without the multiline flag, and without the lastIndex state of g and y.
  return new RegExp(`^(?:${value.source})$`, value.flags.replace(/[gmy]/g, ''))
}

/** Rejects commands that are not on the list, when a schedule or run is created and again when it is executed. */
export function payloadOf(list: AllowList): PayloadSchema<CommandPayload> {
  const standard = {
    version: 1 as const,
    vendor: 'everytick',
    validate(value: unknown) {
      try {
        return { value: readPayload(value, list) }
      } catch (error) {
        return { issues: [{ message: error instanceof Error ? error.message : String(error) }] }
      }
    },
    // For forms in the console.
    jsonSchema: { input: () => formOf(list) },
  }
  return { '~standard': standard }
}

const formOf = (list: AllowList): object => ({
  type: 'object',
  required: ['command'],
  additionalProperties: false,
  properties: {
    command: { enum: [...list.keys()] },
    args: { type: 'array', items: { type: 'string', maxLength: OF_PAYLOAD.length }, maxItems: OF_PAYLOAD.count },
  },
})

function readPayload(value: unknown, list: AllowList): CommandPayload {
  checkKeys(value, ['command', 'args'], 'a command')
  const { command, args = [] } = value as CommandPayload
  const found = typeof command === 'string' ? list.get(command) : undefined
  if (!found) throw refused(`${shown(command)} is not among the allowed commands: ${[...list.keys()].join(', ')}`)
  const words = readArguments(args, 'args', OF_PAYLOAD)
  if (words.length > 0 && !found.extra) throw refused(`command "${command}" takes no args`)
  const strange = words.findIndex((word) => !found.extra!.test(word))
  if (strange >= 0) throw refused(`args[${strange}] does not fit what command "${command}" takes`)
  return { command, args: words }
}
