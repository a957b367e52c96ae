/** `everytick schedules pause`, `resume` and `rm`: changes named schedules one by one, and schedules that match `--where` in a bulk operation. */
import { askYes } from '../ask-yes.ts'
import type { BackendOptions } from '../backend.ts'
import type { CommandContext } from '../command-context.ts'
import { fieldsText } from '../listing.ts'
import { planText } from '../plan-text.ts'
import { printable } from '../print.ts'
import { readScheduleName, schedulePath, scheduleText } from '../schedule-name.ts'
import { UsageError } from '../usage-error.ts'
import { type BulkOptions, bulkSchedules } from './ops-bulk.ts'
import type { ScheduleBody } from './schedules.ts'

export interface StateOptions extends BulkOptions, BackendOptions {
  readonly reason?: string
  readonly until?: string
  readonly from?: string
}

export type StateVerb = 'pause' | 'resume' | 'rm'

const DONE: Readonly<Record<StateVerb, string>> = { pause: 'paused', resume: 'resumed', rm: 'removed' }

export async function changeSchedules(
  context: CommandContext,
  { verb, names }: { readonly verb: StateVerb; readonly names: readonly string[] },
  options: StateOptions,
): Promise<string> {
  refuseMix(names, options)
  const { reason, until, from } = options
  const said = { ...(reason && { reason }), ...(until && { until }), ...(from && { from }) }
  if (options.where) {
    if (until !== undefined)
      throw new UsageError('--until and --where exclude each other', { hint: 'name the schedules' })
    const action = `schedules.${verb === 'rm' ? 'remove' : verb}`
    return bulkSchedules(context, { action, done: DONE[verb], more: said }, options)
  }
  // Read all schedules before changing any, so that a wrong name changes nothing.
  const found: ScheduleBody[] = []
  for (const text of names)
    found.push(await context.backend.ask<ScheduleBody>('GET', schedulePath(readScheduleName(text))))
  if (options.dryRun) return planText(verb, found.map(scheduleText), options.json)
  if (verb === 'rm') await askYes(context.io, `remove ${found.map(nameOf).join(', ')}`, options)
  const after: object[] = []
  for (const each of found) after.push(await change(context, { verb, each, said }))
  if (options.json) return fieldsText(after, options.json)
  return found.map((each) => `${DONE[verb]} ${nameOf(each)}\n`).join('')
}

const nameOf = (schedule: ScheduleBody): string => printable(scheduleText(schedule))

/** Removes only the revision that the user confirmed: a schedule changed since then stays. */
async function change(
  { backend }: CommandContext,
  { verb, each, said }: { readonly verb: StateVerb; readonly each: ScheduleBody; readonly said: object },
): Promise<object> {
  if (verb !== 'rm') return backend.ask<ScheduleBody>('POST', `/schedules/${each.id}/${verb}`, { body: said })
  await backend.ask('DELETE', `/schedules/${each.id}`, { headers: { 'if-match': `"${each.revision}"` } })
  return each
}

function refuseMix(names: readonly string[], { where }: StateOptions): void {
  if (names.length > 0 && where)
    throw new UsageError('names and --where exclude each other', { hint: 'leave out one of them' })
  if (names.length === 0 && !where)
    throw new UsageError('no schedule given', { hint: 'pass key or workspace/key, or --where tag=mail' })
}
