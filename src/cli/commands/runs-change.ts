/** `everytick runs retry`, `cancel` and `rm`: changes named runs one by one, and runs that match `--where` in a bulk operation. */
import type { BackendOptions } from '../backend.ts'
import type { CommandContext } from '../command-context.ts'
import { findId } from '../find-id.ts'
import { RUNS } from '../kinds.ts'
import { fieldsText } from '../listing.ts'
import { planText } from '../plan-text.ts'
import { printable } from '../print.ts'
import { UsageError } from '../usage-error.ts'
import { type BulkOptions, bulkRuns } from './ops-bulk.ts'
import type { RunBody } from './runs.ts'

type Options = BulkOptions & BackendOptions

export async function retryRuns(context: CommandContext, ids: readonly string[], options: Options): Promise<string> {
  if (ids.length > 0 && options.where) throw new UsageError('ids and --where exclude each other')
  if (options.where) return bulkRuns(context, { action: 'runs.retry', done: 'retried', status: 'failed' }, options)
  if (ids.length === 0) throw new UsageError('no run given', { hint: 'pass an id, or --where job=name' })
  const found = await lookedUp(context, ids)
  const other = found.find(({ state }) => state !== 'failed')
  if (other)
    throw new UsageError(`run ${printable(`${other.id} is ${other.state}`)}, and only failed runs can be retried`, {
      code: 'RUN_NOT_FAILED',
    })
  if (options.dryRun) return planText('retry', found.map(idOf), options.json)
  const after: RunBody[] = []
  for (const { id } of found) after.push(await context.backend.ask<RunBody>('POST', `/runs/${id}/retry`))
  return options.json ? fieldsText(after, options.json) : after.map(({ id }) => `retried ${id}\n`).join('')
}

export async function cancelRuns(context: CommandContext, ids: readonly string[], options: Options): Promise<string> {
  if (ids.length > 0 && options.where) throw new UsageError('ids and --where exclude each other')
  if (options.where)
    return bulkRuns(context, { action: 'runs.cancel', done: 'cancelled', status: 'pending,running' }, options)
  if (ids.length === 0) throw new UsageError('no run given', { hint: 'pass an id, or --where job=name' })
  const found = await lookedUp(context, ids)
  if (options.dryRun) {
    const open = found.filter(({ finishedAt }) => finishedAt === null)
    return planText('cancel', open.map(idOf), options.json)
  }
  const after: RunBody[] = []
  for (const { id } of found) after.push(await context.backend.ask<RunBody>('POST', `/runs/${id}/cancel`))
  if (options.json) return fieldsText(after, options.json)
  // A running run gets an abort signal; a finished run stays unchanged.
  return after.map(({ id, state }) => `${printable(`${state === 'running' ? 'stopping' : state} ${id}`)}\n`).join('')
}

export async function removeRuns(context: CommandContext, ids: readonly string[], options: Options): Promise<string> {
  const found = await lookedUp(context, ids)
  const open = found.find(({ finishedAt }) => finishedAt === null)
  if (open)
    throw new UsageError(`run ${printable(`${open.id} is ${open.state}`)}, and only finished runs can be deleted`, {
      code: 'RUN_NOT_FINISHED',
    })
  if (options.dryRun) return planText('delete', found.map(idOf), options.json)
  for (const { id } of found) await context.backend.ask('DELETE', `/runs/${id}`)
  return options.json ? fieldsText(found, options.json) : found.map(({ id }) => `deleted ${id}\n`).join('')
}

const idOf = ({ id }: RunBody): string => id

/** Reads all runs before changing any, so that a wrong id changes nothing. */
async function lookedUp({ backend }: CommandContext, ids: readonly string[]): Promise<RunBody[]> {
  const found: RunBody[] = []
  for (const id of ids) {
    const whole = await findId(backend, RUNS, id)
    // Two id prefixes of the same run count once.
    if (found.every((run) => run.id !== whole)) found.push(await backend.ask<RunBody>('GET', `/runs/${whole}`))
  }
  return found
}
