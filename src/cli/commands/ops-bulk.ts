/** Bulk operations: counts the matches, asks for confirmation, starts the operation in the background and watches it. */
import { askYes } from '../ask-yes.ts'
import type { AskOptions, BackendOptions } from '../backend.ts'
import type { CommandContext } from '../command-context.ts'
import { fieldsText, type Listed, listed } from '../listing.ts'
import { planText } from '../plan-text.ts'
import { isAll, RUN_FILTERS, readFilters, SCHEDULE_FILTERS, scheduleFilter, scheduleQuery } from '../query-filters.ts'
import { readScheduleName, schedulePath, scheduleText } from '../schedule-name.ts'
import { UsageError } from '../usage-error.ts'
import { type OperationBody, watchOperation } from './ops.ts'

export interface BulkOptions {
  readonly where?: readonly string[]
  readonly dryRun?: boolean
  readonly yes?: boolean
  readonly detach?: boolean
  readonly json?: boolean | string
}

interface Order {
  /** The action in `POST /operations`. */
  readonly action: string
  /** Such as `paused`, for the final message. */
  readonly done: string
  /** More fields of the request. */
  readonly more?: object
}

/** Counts up to this; beyond it, prints `more than`. */
const COUNTED = 1000

export async function bulkSchedules(
  context: CommandContext,
  order: Order,
  options: BulkOptions & BackendOptions,
): Promise<string> {
  const words = options.where ?? []
  const filter = scheduleFilter(words)
  const query = isAll(words) ? {} : scheduleQuery(readFilters(words, SCHEDULE_FILTERS))
  const found = await listed<{ workspace: string; key: string }>(context.backend, '/schedules', {
    query,
    limit: COUNTED,
  })
  const names = { ...found, items: found.items.map(scheduleText) }
  return ordered(context, { ...order, filter, names, noun: 'schedule' }, options)
}

export async function bulkRuns(
  context: CommandContext,
  { status, ...order }: Order & { readonly status: string },
  options: BulkOptions & BackendOptions,
): Promise<string> {
  const words = options.where ?? []
  const { status: said, ...query } = isAll(words) ? {} : await runQuery(context, words)
  if (said !== undefined) throw new UsageError(`--where does not support status here: this command selects ${status}`)
  const { schedule, ...rest } = query
  const filter = isAll(words) ? { all: true } : { ...rest, ...(schedule === undefined ? {} : { scheduleId: schedule }) }
  const waitForStop = { query: { ...query, status }, limit: COUNTED }
  const found = await listed<{ id: string }>(context.backend, '/runs', waitForStop)
  const names = { ...found, items: found.items.map(({ id }) => id) }
  return ordered(context, { ...order, filter, names, noun: 'run' }, options)
}

/** For `GET /runs`, which filters schedules by id only. */
export async function runQuery(
  { backend }: CommandContext,
  words: readonly string[],
): Promise<NonNullable<AskOptions['query']>> {
  const { schedule, ...query } = readFilters(words, RUN_FILTERS)
  if (schedule === undefined) return query
  const name = readScheduleName(schedule, query.workspace)
  const { id } = await backend.ask<{ id: string }>('GET', schedulePath(name))
  return { ...query, schedule: id }
}

interface Ordered extends Order {
  readonly filter: object
  readonly names: Listed<string>
  readonly noun: string
}

async function ordered(
  context: CommandContext,
  order: Ordered,
  options: BulkOptions & BackendOptions,
): Promise<string> {
  const { backend, io } = context
  const { action, filter, names, noun, done, more = {} } = order
  const count = (number: number | string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
  const many = count(names.hasMore ? `more than ${COUNTED}` : names.items.length)
  if (options.dryRun) {
    io.note(`${many} would be ${done}\n`)
    return planText(action.slice(action.indexOf('.') + 1), names.items, options.json)
  }
  if (names.items.length === 0) {
    io.note(`no matching ${noun}s\n`)
    return options.json ? 'null\n' : ''
  }
  await askYes(io, `${many} to be ${done}`, options)
  const begun = await backend.ask<OperationBody>('POST', '/operations', { body: { action, filter, ...more } })
  if (options.detach) {
    io.note(`the operation continues in the background. To watch it: everytick ops watch ${begun.id}\n`)
    return options.json ? fieldsText(begun, options.json) : `${begun.id}\n`
  }
  const total = names.hasMore ? null : names.items.length
  return watchOperation(context, { id: begun.id, total, sentence: (number) => `${done} ${count(number)}` }, options)
}
