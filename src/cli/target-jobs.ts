/** The jobs that CLI options add: HTTP requests, and commands from an allow list. */
import { accessSync, constants } from 'node:fs'
import { resolve } from 'node:path'
import type { Job } from '../job.ts'
import { command } from '../targets/command/command.ts'
import { http } from '../targets/http/http.ts'
import { commandEnvironment, namedSecrets } from './config.ts'
import { UsageError } from './usage-error.ts'

export interface TargetOptions {
  readonly http?: boolean
  readonly allowPrivate?: boolean
  readonly allowHost?: readonly string[]
  readonly publicUrl?: string
  /** Each as `name=file`. */
  readonly allowCommand?: readonly string[]
}

/** `works`: whether this process executes them, so that the command files must exist. */
export function targetJobs(options: TargetOptions, works: boolean): readonly Job[] {
  const { http: calls = false, allowCommand = [] } = options
  if (!calls) refuseAlone(options)
  return [...(calls ? [httpJob(options)] : []), ...(allowCommand.length > 0 ? [commandJob(allowCommand, works)] : [])]
}

function refuseAlone({ allowPrivate, allowHost, publicUrl }: TargetOptions): void {
  const all = { '--allow-private': allowPrivate, '--allow-host': allowHost, '--public-url': publicUrl }
  const [alone] = Object.entries(all).find(([, value]) => value !== undefined) ?? []
  if (alone !== undefined) throw new UsageError(`${alone} needs --http`, { hint: 'add --http' })
}

const httpJob = ({ allowPrivate = false, allowHost, publicUrl }: TargetOptions): Job =>
  http({
    secrets: namedSecrets(),
    allowPrivate,
    ...(allowHost !== undefined && { allow: allowHost }),
    ...(publicUrl !== undefined && { publicUrl }),
  }) as Job

function commandJob(given: readonly string[], works: boolean): Job {
  const allow = given.map((text) => {
    const [, name, path] = /^([^=]+)=(.+)$/s.exec(text) ?? []
    if (name === undefined || path === undefined)
      throw new UsageError(`--allow-command takes name=file, not ${text}`, {
        hint: 'such as --allow-command backup=/usr/local/bin/backup',
      })
    const file = resolve(path)
    if (works && !mayExecute(file))
      throw new UsageError(`--allow-command ${name}: ${file} does not exist or is not executable`)
    return { name, file }
  })
  return command({ allow, env: commandEnvironment() }) as Job
}

function mayExecute(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Both lists; the reader of job lists rejects a value that is not a list. */
export const alongside = (own: readonly Job[], added: readonly Job[]): readonly Job[] =>
  Array.isArray(own) ? [...own, ...added] : own

/** The jobs whose names the project does not use; for jobs added by default. */
export const besides = (own: readonly Job[], jobs: readonly Job[]): readonly Job[] =>
  jobs.filter(({ name }) => !(Array.isArray(own) && own.some((job) => job?.name === name)))
