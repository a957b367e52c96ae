/** `everytick backfill`: runs past occurrences of a schedule after confirmation; `backfill-watch.ts` watches it. */
import { askYes } from '../ask-yes.ts'
import type { Backend } from '../backend.ts'
import type { CommandContext } from '../command-context.ts'
import { findId } from '../find-id.ts'
import { BACKFILLS } from '../kinds.ts'
import { fieldsText } from '../listing.ts'
import { planText } from '../plan-text.ts'
import { printable, rowsText } from '../print.ts'
import { readScheduleName, schedulePath } from '../schedule-name.ts'
import { shortIds } from '../short-id.ts'
import { UsageError } from '../usage-error.ts'
import { type BackfillBody, watchBackfill } from './backfill-watch.ts'
import { jsonOf } from './schedules-spec.ts'

export interface BackfillOptions {
  readonly from?: string
  readonly to?: string
  readonly concurrency?: string
  readonly force?: boolean
  readonly payload?: string
  readonly yes?: boolean
  readonly detach?: boolean
  readonly dryRun?: boolean
  readonly json?: boolean | string
}

interface Answer {
  readonly id: string | null
  readonly total: number
  readonly toRun: number
  readonly kept: number
}

export async function backfill(
  context: CommandContext,
  name: string | undefined,
  options: BackfillOptions,
): Promise<string> {
  const { backend, io, view } = context
  if (name === undefined) throw new UsageError('no schedule given', { hint: 'pass key or workspace/key' })
  const body = bodyOf(options)
  const { id } = await backend.ask<{ id: string }>('GET', schedulePath(readScheduleName(name)))
  const path = `/schedules/${id}/backfills`
  const plan = await backend.ask<Answer>('POST', path, { body: { ...body, dryRun: true } })
  const summary = summaryOf(plan, options.force === true)
  if (options.dryRun) {
    if (options.json) return fieldsText(plan, options.json)
    return view.terminal
      ? `  ${summary}\n`
      : rowsText(
          [],
          [
            ['total', plan.total],
            ['kept', plan.kept],
            ['toRun', plan.toRun],
          ].map((row) => row.map(String)),
          view,
        )
  }
  if (plan.toRun === 0) {
    io.note(`${summary}: nothing to do\n`)
    return options.json ? fieldsText(plan, options.json) : ''
  }
  await askYes(io, summary, options)
  const begun = await backend.ask<Answer>('POST', path, { body })
  if (!options.detach) return watchBackfill(context, begun.id!, options)
  io.note(`the backfill continues in the background. To watch it: everytick backfill watch ${begun.id}\n`)
  return options.json ? fieldsText(begun, options.json) : `${begun.id}\n`
}

export function summaryOf({ total, kept, toRun }: Omit<Answer, 'id'>, force: boolean): string {
  const slots = `${total} slot${total === 1 ? '' : 's'}`
  const left = kept === 0 ? [] : [force ? `${kept} kept` : `${kept} already ran (kept; --force to rerun)`]
  return [slots, ...left, `${toRun} to run`].join(' · ')
}

function bodyOf({ from, to, concurrency, force, payload }: BackfillOptions): Readonly<Record<string, unknown>> {
  if (from === undefined || to === undefined)
    throw new UsageError('--from and --to are required', { hint: 'such as --from 2026-11-01 --to 2026-11-15' })
  if (concurrency !== undefined && !/^\d{1,4}$/.test(concurrency))
    throw new UsageError(`--concurrency must be a whole number, not ${JSON.stringify(concurrency)}`)
  const given = jsonOf(payload)
  return {
    ...{ from, to },
    ...(concurrency === undefined ? {} : { concurrency: Number(concurrency) }),
    ...(force ? { force: true } : {}),
    ...(given === undefined ? {} : { payload: given }),
  }
}

const scheduleId = async (backend: Backend, name: string): Promise<string> =>
  (await backend.ask<{ id: string }>('GET', schedulePath(readScheduleName(name)))).id

export async function listBackfills(
  { backend, io, view }: CommandContext,
  name: string | undefined,
  { json = false }: { readonly json?: boolean | string },
): Promise<string> {
  const path = name === undefined ? '/backfills' : `/schedules/${await scheduleId(backend, name)}/backfills`
  const { data } = await backend.ask<{ data: BackfillBody[] }>('GET', path)
  if (json) return fieldsText(data, json)
  if (data.length === 0) io.note('no backfills\n')
  const idText = view.terminal ? shortIds(data.map((each) => each.id)) : String
  const rows = data.map((each) => [
    ...[idText(each.id), each.schedule, each.state, each.from, each.to, `${each.done}/${each.total}`],
    ...[each.succeeded, each.failed, each.running].map(String),
  ])
  const heading = ['ID', 'SCHEDULE', 'STATE', 'FROM', 'TO', 'DONE', 'SUCCEEDED', 'FAILED', 'RUNNING']
  return rows.length === 0 ? '' : rowsText(heading, rows, view)
}

export async function cancelBackfill(
  { backend }: CommandContext,
  id: string,
  { dryRun = false, json = false }: { readonly dryRun?: boolean; readonly json?: boolean | string },
): Promise<string> {
  const path = `/backfills/${await findId(backend, BACKFILLS, id)}`
  const before = await backend.ask<BackfillBody>('GET', path)
  const isOver = before.state !== 'running'
  if (dryRun) return planText('cancel', isOver ? [] : [before.id], json)
  const after = await backend.ask<BackfillBody>('POST', `${path}/cancel`)
  if (json) return fieldsText(after, json)
  return `${printable(isOver ? `${after.id} is ${after.state}` : `cancelled ${after.id}`)}\n`
}
