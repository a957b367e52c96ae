/** The jobs that the command line itself can bring, where it was told to: calls over HTTP, and commands of a list. */
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

/** `works`: whether this process is to carry them out, and so should find the files. */
export function targetJobs(options: TargetOptions, works: boolean): readonly Job[] {
  const { http: calls = false, allowCommand = [] } = options
  if (!calls) refuseAlone(options)
  return [...(calls ? [httpJob(options)] : []), ...(allowCommand.length > 0 ? [commandJob(allowCommand, works)] : [])]
}

function refuseAlone({ allowPrivate, allowHost, publicUrl }: TargetOptions): void {
  const all = { '--allow-private': allowPrivate, '--allow-host': allowHost, '--public-url': publicUrl }
  const [alone] = Object.entries(all).find(([, value]) => value !== undefined) ?? []
  if (alone !== undefined) throw new UsageError(`${alone} says how to call over HTTP`, { hint: 'add --http' })
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
      throw new UsageError(`--allow-command ${name}: ${file} is not there, or may not be executed`)
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

/** Both; what is no list is refused where lists of jobs are read. */
export const alongside = (own: readonly Job[], added: readonly Job[]): readonly Job[] =>
  Array.isArray(own) ? [...own, ...added] : own

/** Those whose names the project has not taken; for jobs that nobody asked for. */
export const besides = (own: readonly Job[], jobs: readonly Job[]): readonly Job[] =>
  jobs.filter(({ name }) => !(Array.isArray(own) && own.some((job) => job?.name === name)))
