/** `everytick schedules create` and `edit`: writes a definition, or previews it with --dry-run. */
import { systemClock } from '../../time/clock.ts'
import type { BackendOptions } from '../backend.ts'
import type { CommandContext } from '../command-context.ts'
import { fieldsText } from '../listing.ts'
import { noteWarnings } from '../note-warnings.ts'
import { jsonText, printable } from '../print.ts'
import { readScheduleName, schedulePath, scheduleText } from '../schedule-name.ts'
import { relativeText } from '../time-cell.ts'
import { UsageError } from '../usage-error.ts'
import { type BulkOptions, bulkSchedules } from './ops-bulk.ts'
import type { ScheduleBody } from './schedules.ts'
import { type Spec, type SpecOptions, specOf, timingOf, unsetOf } from './schedules-spec.ts'

interface WriteOptions extends SpecOptions {
  readonly dryRun?: boolean
  readonly json?: boolean | string
}

export interface CreateOptions extends WriteOptions {
  /** With a reason, or without one. */
  readonly paused?: string | true
}

export interface EditOptions extends WriteOptions {
  readonly unset?: string
  readonly force?: boolean
}

interface Explained {
  readonly when: string
  readonly next: readonly { readonly scheduledAt: string }[]
  readonly warnings: readonly { readonly text: string }[]
}

export async function createSchedule(context: CommandContext, text: string, options: CreateOptions): Promise<string> {
  const { backend } = context
  const name = readScheduleName(text)
  const spec = { ...specOf(options), ...pausedOf(options) }
  if (spec.job === undefined)
    throw new UsageError('--job is missing', { hint: 'pass --job with the name of the job to run' })
  if (!options.dryRun) {
    const made = await backend.ask<ScheduleBody>('POST', '/schedules', { body: { ...name, ...spec } })
    noteWarnings(context.io, made.warnings)
    return options.json ? fieldsText(made, options.json) : `created ${sentenceOf(made)}\n`
  }
  // Fail as storing it would.
  const body = { schedules: [{ ...name, ...spec }] }
  const { data } = await backend.ask<{ data: readonly { action: string }[] }>('POST', '/preview', { body })
  if (data[0]?.action !== 'create')
    throw new UsageError(`schedule ${scheduleText(name)} already exists`, {
      code: 'SCHEDULE_EXISTS',
    })
  const explained = await explain(context, { ...name, ...timingOf(spec) })
  if (options.json) return fieldsText({ ...name, ...spec, when: explained.when }, options.json)
  const nextFireAt = options.paused ? null : (explained.next[0]?.scheduledAt ?? null)
  return `would create ${sentenceOf({ ...name, when: explained.when, nextFireAt, paused: options.paused ? {} : null })}\n`
}

/** Edits one named schedule, or the jitter of all that match `--where`. */
export async function editSchedules(
  context: CommandContext,
  text: string | undefined,
  options: EditOptions & BulkOptions & BackendOptions,
): Promise<string> {
  if (text !== undefined && !options.where) return editSchedule(context, text, options)
  const { jitter, ...others } = { ...specOf(options), ...unsetOf(options.unset) } as { readonly jitter?: string }
  if (!options.where || text !== undefined)
    throw new UsageError('name one schedule, or pass --where', { hint: 'such as --where tag=mail --jitter 5m' })
  if (typeof jitter !== 'string' || Object.keys(others).length > 0)
    throw new UsageError('with --where, only --jitter can change', { hint: 'such as --where tag=mail --jitter 5m' })
  return bulkSchedules(context, { action: 'schedules.jitter', done: 'edited', more: { jitter } }, options)
}

/** Changes only the revision it read, so that it does not overwrite a concurrent change. */
async function editSchedule(context: CommandContext, text: string, options: EditOptions): Promise<string> {
  const { backend, io } = context
  const name = readScheduleName(text)
  const changes = { ...specOf(options), ...unsetOf(options.unset) }
  if (Object.keys(changes).length === 0)
    throw new UsageError('nothing to change', { hint: 'such as --cron "0 3 * * *" or --unset timeout' })
  const before = await backend.ask<ScheduleBody>('GET', schedulePath(name))
  if (options.dryRun) return proposed(context, { before, changes, json: options.json ?? false })
  const after = await backend.ask<ScheduleBody>('PATCH', `/schedules/${before.id}`, {
    body: { ...changes, ...(options.force ? { force: true } : {}) },
    headers: { 'if-match': `"${before.revision}"` },
  })
  noteWarnings(io, after.warnings)
  if (options.json) return fieldsText(after, options.json)
  if (after.revision === before.revision) io.note('nothing changed: the schedule already has these values\n')
  return `${after.revision === before.revision ? 'kept' : 'edited'} ${sentenceOf(after)}\n`
}

interface Proposal {
  readonly before: ScheduleBody
  readonly changes: Spec
  readonly json: boolean | string
}

async function proposed(context: CommandContext, { before, changes, json }: Proposal): Promise<string> {
  const timing = timingOf(changes)
  // Only a complete rule can be validated here; a partial change is validated when it is written.
  if (['cron', 'every', 'at'].some((rule) => typeof timing[rule] === 'string'))
    await explain(context, Object.fromEntries(Object.entries(timing).filter(([, value]) => value !== null)))
  if (json) return fieldsText({ workspace: before.workspace, key: before.key, changes }, json)
  const lines = Object.entries(changes).map(
    ([field, value]) => `  ~ ${printable(field)}  ${shown(before[field])} → ${shown(value)}\n`,
  )
  return `would edit ${printable(scheduleText(before))}\n${lines.join('')}`
}

const shown = (value: unknown): string => {
  if (value === undefined || value === null) return '(default)'
  return typeof value === 'string' ? printable(value) : jsonText(value)
}

async function explain(context: CommandContext, body: Spec): Promise<Explained> {
  const explained = await context.backend.ask<Explained>('POST', '/explain', { body: { ...body, n: 1 } })
  noteWarnings(context.io, explained.warnings)
  return explained
}

const pausedOf = ({ paused }: CreateOptions): Spec => {
  if (paused === undefined) return {}
  return { paused: paused === true ? true : { reason: paused } }
}

type Told = Pick<ScheduleBody, 'workspace' | 'key' | 'when' | 'nextFireAt'> & { readonly paused?: object | null }

function sentenceOf({ when, nextFireAt, paused, ...name }: Told): string {
  const none = paused ? 'paused' : 'none to come'
  const next = nextFireAt === null ? none : `next ${relativeText(Date.parse(nextFireAt), systemClock.now())}`
  return `${printable(scheduleText({ workspace: name.workspace, key: name.key }))}: ${printable(when ?? '')} ${next}`
}
