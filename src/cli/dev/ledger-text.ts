/** The final line of `dev`: whether the ledger accounts for every occurrence of the last day. */
import type { AuditReport } from '../../scheduler/audit.ts'
import type { View } from '../print.ts'

export function ledgerText(report: AuditReport, { colours: { green, red } }: View): string {
  const { ok, expected, runs, nonRuns, unexplainedCount, lostCount, doubledCount } = report
  const sum = `${expected} occurrences = ${runs} runs + ${nonRuns} on record as skipped or missed`
  const amiss = `${unexplainedCount} unexplained, ${lostCount} lost, ${doubledCount} doubled`
  return `  ledger ${ok ? green('✓') : red('✗')} ${sum}; ${amiss}\n`
}
