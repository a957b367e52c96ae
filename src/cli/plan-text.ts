/** The output of a dry run: one line per planned change, or JSON. */
import { jsonText, printable } from './print.ts'

export function planText(action: string, targets: readonly string[], json: boolean | string = false): string {
  if (json) return `${jsonText(targets.map((target) => ({ dryRun: true, action, target })))}\n`
  return targets.map((target) => `would ${action} ${printable(target)}\n`).join('')
}
