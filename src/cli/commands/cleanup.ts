/** `everytick cleanup`: counts records older than their retention, asks for confirmation, and deletes them with a progress bar. */
import { coreOf } from '../../scheduler/core.ts'
import { answer, type JsonOption } from '../answer.ts'
import { askYes } from '../ask-yes.ts'
import { type BackendOptions, findWhere } from '../backend.ts'
import { type Io, withBackend } from '../io.ts'
import { printable, rowsText, type View } from '../print.ts'
import { barOn, barText } from '../progress-bar.ts'

export interface CleanupOptions extends BackendOptions, JsonOption {
  readonly dryRun?: boolean
  readonly yes?: boolean
  readonly history?: string
  readonly journal?: string
  readonly idempotency?: string
  readonly orphans?: string
  readonly endedSchedules?: string
}

type Retention = Readonly<Record<string, string>>

interface Report {
  readonly dryRun: boolean
  readonly removed: number
  readonly counts: Readonly<Record<string, number>>
  readonly more: boolean
  readonly retention: Retention
}

export async function cleanup(options: CleanupOptions, io: Io): Promise<void> {
  const retention = { ...(await configuredRetention(options)), ...namedIn(options) }
  await withBackend(options, async (backend) => {
    const ask = (dryRun: boolean): Promise<Report> =>
      backend.ask<Report>('POST', '/cleanup', { body: { dryRun, retention } })
    const overdue = await ask(true)
    if (options.dryRun || overdue.removed === 0) return answer(overdue, { ...options, io }, reportText)
    await askYes(io, `${summaryOf(overdue)}: permanently deletes ${rowsOf(overdue.removed)}`, options)
    await answer(await removeAll(ask, overdue, io), { ...options, io }, reportText)
  })
}

/** Each request deletes one batch. */
async function removeAll(ask: (dryRun: boolean) => Promise<Report>, overdue: Report, io: Io): Promise<Report> {
  const bar = barOn(process.stderr)
  let sum: Report = { ...overdue, dryRun: false, removed: 0, counts: {}, more: true }
  try {
    while (sum.more) {
      sum = added(sum, await ask(false))
      const total = Math.max(overdue.removed, sum.removed)
      bar.show(barText({ done: sum.removed, total, counts: '', leftMs: null, about: '' }, io.around.columns))
    }
    return sum
  } finally {
    bar.clear()
  }
}

function added(sum: Report, { removed, counts, more }: Report): Report {
  const both = { ...sum.counts }
  for (const [kind, rows] of Object.entries(counts)) both[kind] = (both[kind] ?? 0) + rows
  return { ...sum, removed: sum.removed + removed, counts: both, more }
}

/**
 * A server knows its retention. For a database, use the retention of the configuration in this folder, so that cleanup does not delete records
 * that the project keeps longer than the default.
 */
async function configuredRetention(options: CleanupOptions): Promise<Retention> {
  if ((await findWhere(options))?.kind !== 'store') return {}
  const [{ loadConfig }, { retentionText }, { readRetention }] = await Promise.all([
    import('../config-file.ts'),
    import('../../scheduler/cleanup.ts'),
    import('../../scheduler/settings.ts'),
  ])
  const { app, options: config } = await loadConfig(options.config)
  return retentionText(app ? coreOf(app).settings.retention : readRetention(config.retention ?? {}))
}

const NAMES = ['history', 'journal', 'idempotency', 'orphans', 'endedSchedules'] as const

const namedIn = (options: CleanupOptions): Retention =>
  Object.fromEntries(NAMES.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])))

const rowsOf = (count: number): string => `${count} ${count === 1 ? 'row' : 'rows'}`

const summaryOf = ({ retention }: Report): string =>
  printable(`retention: ${NAMES.map((name) => `${name} ${retention[name]}`).join(', ')}`)

function reportText(report: Report, view: View): string {
  const rows = Object.entries(report.counts).map(([kind, count]) => [kind, String(count)])
  if (!view.terminal) return rowsText([], rows, view)
  const verb = report.dryRun ? 'would remove' : 'removed'
  if (report.removed === 0) return `  nothing to delete; ${summaryOf(report)}\n`
  return `${rowsText(['WHAT', 'ROWS'], rows, view)}  ${verb} ${rowsOf(report.removed)}; ${summaryOf(report)}\n`
}
