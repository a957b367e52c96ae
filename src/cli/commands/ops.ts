/** `everytick ops`: lists, watches and cancels bulk operations. */
import { systemClock } from '../../time/clock.ts'
import { type BackendOptions, whereOf } from '../backend.ts'
import type { CommandContext } from '../command-context.ts'
import { findId } from '../find-id.ts'
import type { Io } from '../io.ts'
import { OPERATIONS } from '../kinds.ts'
import { fieldsText, type ListOptions, limitOf, listed } from '../listing.ts'
import { planText } from '../plan-text.ts'
import { printable, rowsText } from '../print.ts'
import { barOn, barText, leftMs } from '../progress-bar.ts'
import { shortIds } from '../short-id.ts'
import { timeCell } from '../time-cell.ts'
import { UsageError } from '../usage-error.ts'
import { watched } from '../watch.ts'

export interface OperationBody {
  readonly id: string
  readonly state: 'running' | 'done' | 'cancelled'
  readonly work: { readonly action: string }
  readonly by: string
  readonly done: number
  readonly failed: number
  readonly errors: readonly { readonly target: string; readonly message: string }[]
  readonly createdAt: string
  readonly finishedAt: string | null
}

const HEADING = ['ID', 'STATE', 'ACTION', 'DONE', 'FAILED', 'BY', 'BEGAN']

export async function listOperations({ backend, io, view }: CommandContext, options: ListOptions): Promise<string> {
  const { items, hasMore } = await listed<OperationBody>(backend, '/operations', { limit: limitOf(options) })
  if (hasMore) io.note('there are more: use --limit or --all\n')
  if (options.json) return fieldsText(items, options.json)
  if (items.length === 0) io.note('no bulk operations\n')
  const now = systemClock.now()
  const idText = view.terminal ? shortIds(items.map(({ id }) => id)) : String
  const rows = items.map(({ id, state, work, done, failed, by, createdAt }) => [
    ...[idText(id), state, work.action, String(done), String(failed), by],
    timeCell(createdAt, now, view),
  ])
  return rows.length === 0 ? '' : rowsText(HEADING, rows, view)
}

interface Watched {
  readonly id: string
  /** Null when unknown. */
  readonly total: number | null
  /** The final message for this number of changes. */
  readonly sentence: (done: number) => string
}

interface WatchOptions extends BackendOptions {
  readonly json?: boolean | string
}

/** A database may have no server to execute the operation, so this process executes it while it watches. */
export async function watchOperation(
  context: CommandContext,
  { id, ...rest }: Watched,
  options: WatchOptions,
): Promise<string> {
  const { backend, io } = context
  const what = { ...rest, id: await findId(backend, OPERATIONS, id) }
  const path = `/operations/${what.id}`
  const look = (): Promise<OperationBody> => backend.ask<OperationBody>('GET', path)
  await look()
  const where = await whereOf(options)
  const worker = where.kind === 'server' ? null : await (await import('./ops-work.ts')).openWorker(where.store)
  const bar = barOn(process.stderr)
  const first = { done: 0, elapsed: systemClock.elapsed() }
  try {
    const seen = await watched<OperationBody>({
      async look() {
        await worker?.carryOn()
        return look()
      },
      isOver: ({ state }) => state !== 'running',
      show({ done, failed }) {
        const { total } = what
        const eta = total === null ? null : leftMs({ first, done, total, elapsed: systemClock.elapsed() })
        const about = `${what.id}  (ctrl-c detaches)`
        const counts = failed > 0 ? `✗${failed}` : ''
        bar.show(barText({ done, total, counts, leftMs: eta, about }, io.around.columns))
      },
    })
    bar.clear()
    if (seen !== 'detached') return ending(io, { seen, what, json: options.json ?? false })
    const goesOn = worker === null ? 'the operation continues' : 'a server continues the operation'
    io.note(`detached; ${goesOn}. To watch it again: everytick ops watch ${what.id}\n`)
    return ''
  } finally {
    bar.clear()
    await worker?.close()
  }
}

interface Ending {
  readonly seen: OperationBody
  readonly what: Watched
  readonly json: boolean | string
}

/** With --json, print the whole body also when the operation failed. */
function ending({ note, write }: Io, { seen, what, json }: Ending): string {
  const { id, done, failed, state, errors } = seen
  for (const { target, message } of errors) note(`  ✗ ${printable(target)}: ${printable(message)}\n`)
  const sentence = printable(what.sentence(done))
  if (json) write(fieldsText(seen, json))
  if (state === 'cancelled') throw new UsageError(`${id} was cancelled: ${sentence}`, { code: 'CANCELLED' })
  if (failed > 0) throw new UsageError(`${failed} failed: ${sentence}`, { code: 'INCOMPLETE' })
  return json ? '' : `${sentence}\n`
}

export async function cancelOperation(
  { backend }: CommandContext,
  id: string,
  { dryRun = false, json = false }: { readonly dryRun?: boolean; readonly json?: boolean | string },
): Promise<string> {
  const path = `/operations/${await findId(backend, OPERATIONS, id)}`
  const before = await backend.ask<OperationBody>('GET', path)
  if (dryRun) return planText('cancel', before.state === 'running' ? [before.id] : [], json)
  const after = await backend.ask<OperationBody>('POST', `${path}/cancel`)
  if (json) return fieldsText(after, json)
  return `${printable(before.state === 'running' ? `cancelled ${after.id} after ${after.done}` : `${after.id} is ${after.state}`)}\n`
}
