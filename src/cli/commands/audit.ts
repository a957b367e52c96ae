/** `everytick audit`: checks that the ledger accounts for every occurrence once; exits 5 if one is lost, doubled or unexplained. */
import { systemClock } from '../../time/clock.ts'
import { parseDuration } from '../../time/duration.ts'
import { answer, type JsonOption } from '../answer.ts'
import type { BackendOptions } from '../backend.ts'
import { utcText } from '../instant-text.ts'
import { type Io, withBackend } from '../io.ts'
import { printable, rowsText, type View } from '../print.ts'
import { readScheduleName, scheduleText } from '../schedule-name.ts'
import { UsageError } from '../usage-error.ts'

export interface AuditOptions extends BackendOptions, JsonOption {
  readonly workspace?: string
  readonly since?: string
}

interface Named {
  readonly workspace: string
  readonly key: string
  readonly at: string
}
export interface Ledger {
  readonly ok: boolean
  readonly from: string
  readonly to: string
  readonly schedules: number
  readonly expected: number
  readonly runs: number
  readonly nonRuns: number
  readonly backfills: number
  readonly pending: number
  readonly lost: readonly Named[]
  readonly lostCount: number
  readonly doubled: readonly Named[]
  readonly doubledCount: number
  readonly unexplained: readonly Named[]
  readonly unexplainedCount: number
  readonly unreadable: readonly string[]
  readonly notes: readonly { readonly kind: 'failover'; readonly from: string; readonly to: string }[]
}

export function audit(name: string | undefined, options: AuditOptions, io: Io): Promise<void> {
  const { workspace, since } = options
  if (name !== undefined && workspace !== undefined)
    throw new UsageError('a schedule and --workspace exclude each other', { hint: 'write workspace/key' })
  const one = name === undefined ? { workspace } : scheduleOf(name)
  return withBackend(options, async (backend) => {
    const query = { ...one, since: since === undefined ? undefined : sinceText(since, systemClock.now()) }
    const ledger = await backend.ask<Ledger>('GET', '/ledger', { query })
    await answer(ledger, { ...options, io }, ledgerText)
    if (!ledger.ok) throw new UsageError(amissText(ledger), { code: 'CHECK_FAILED' })
  })
}

function scheduleOf(name: string): { readonly workspace: string; readonly schedule: string } {
  const { workspace, key } = readScheduleName(name)
  return { workspace, schedule: key }
}

/** Returns an instant unchanged, and a duration as the instant that long before now. */
export const sinceText = (since: string, now: number): string =>
  /^\d+[a-z]/.test(since) ? new Date(now - parseDuration(since)).toISOString() : since

const failoverText = (from: string, to: string): string =>
  `the database failed over: writes acknowledged from ${from} to ${to} may be lost`

const KINDS = ['lost', 'doubled', 'unexplained'] as const

function amissText(ledger: Ledger): string {
  const counts = KINDS.filter((kind) => ledger[`${kind}Count`] > 0).map((kind) => `${ledger[`${kind}Count`]} ${kind}`)
  if (ledger.unreadable.length > 0) counts.push(`${ledger.unreadable.length} schedules that this version cannot read`)
  return `the ledger does not add up: ${counts.join(', ')}`
}

export function ledgerText(ledger: Ledger, view: View): string {
  const amiss = KINDS.flatMap((kind) =>
    ledger[kind].map((each) => [kind as string, scheduleText(each), utcText(Date.parse(each.at))] as const),
  ).concat(ledger.unreadable.map((name) => ['unreadable', name, '-'] as const))
  if (!view.terminal) {
    const sums = ['schedules', 'expected', 'runs', 'nonRuns', 'backfills', 'pending'] as const
    const rows = [...sums, ...KINDS.map((kind) => `${kind}Count` as const)].map((name) => [name, String(ledger[name])])
    const notes = ledger.notes.map(({ kind, from, to }) => [kind, from, to])
    return rowsText([], [...rows, ...amiss, ...notes], view)
  }
  const { green, red, yellow, dim } = view.colours
  const { schedules, expected, runs, nonRuns, backfills, pending } = ledger
  const more = [
    ...(backfills > 0 ? [`${backfills} run by backfills`] : []),
    ...(pending > 0 ? [`${pending} not planned yet`] : []),
  ]
  const lines = [
    `${ledger.ok ? green('✓') : red('✗')} ${expected} occurrences of ${schedules} ${schedules === 1 ? 'schedule' : 'schedules'} = ${runs} runs + ${nonRuns} on record as skipped or missed`,
    `  ${KINDS.map((kind) => `${ledger[`${kind}Count`]} ${kind}`).join(', ')}${more.length > 0 ? `; ${more.join(', ')}` : ''}`,
    dim(`  ${printable(`${ledger.from} to ${ledger.to}`)}`),
    ...ledger.notes.map(({ from, to }) => yellow(`! ${printable(failoverText(from, to))}`)),
  ]
  const table = amiss.length === 0 ? '' : rowsText(['PROBLEM', 'SCHEDULE', 'OCCURRENCE'], amiss, view)
  return `${lines.map((line) => `  ${line}\n`).join('')}${table}`
}
