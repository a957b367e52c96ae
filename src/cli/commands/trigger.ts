/** `everytick trigger`: runs a schedule once, now, in addition to its occurrences. */
import type { BackendOptions } from '../backend.ts'
import type { CommandContext } from '../command-context.ts'
import { fieldsText } from '../listing.ts'
import { noteWarnings, type Warned } from '../note-warnings.ts'
import { planText } from '../plan-text.ts'
import { printable } from '../print.ts'
import { readScheduleName, schedulePath, scheduleText } from '../schedule-name.ts'
import { UsageError } from '../usage-error.ts'
import { type BulkOptions, bulkSchedules } from './ops-bulk.ts'
import type { ScheduleBody } from './schedules.ts'
import { jsonOf } from './schedules-spec.ts'

export interface TriggerOptions extends BulkOptions, BackendOptions {
  readonly payload?: string
  readonly overlap?: string
}

interface Triggered extends Warned {
  readonly id: string
}

/** In a pipe, prints only the id of the run, so that a script can capture it. */
export async function trigger(
  context: CommandContext,
  text: string | undefined,
  options: TriggerOptions,
): Promise<string> {
  const { backend, io, view } = context
  const payload = jsonOf(options.payload)
  const { overlap } = options
  if (options.where) {
    if (text !== undefined || payload !== undefined || overlap !== undefined)
      throw new UsageError('--where excludes a schedule name, --payload and --overlap')
    return bulkSchedules(context, { action: 'schedules.trigger', done: 'triggered' }, options)
  }
  if (text === undefined)
    throw new UsageError('no schedule given', { hint: 'pass key or workspace/key, or --where tag=mail' })
  const found = await backend.ask<ScheduleBody>('GET', schedulePath(readScheduleName(text)))
  const name = scheduleText(found)
  if (options.dryRun) return planText('trigger', [name], options.json)
  const body = { ...(payload === undefined ? {} : { payload }), ...(overlap && { overlap }) }
  const run = await backend.ask<Triggered>('POST', `/schedules/${found.id}/trigger`, { body })
  noteWarnings(io, run.warnings)
  if (options.json) return fieldsText(run, options.json)
  return view.terminal ? `triggered ${printable(name)}: run ${run.id}\n` : `${run.id}\n`
}
