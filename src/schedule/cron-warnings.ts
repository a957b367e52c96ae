/** What a careful author should know of a cron expression before saving it; it decides nothing about firing. */
import { DAY_MS } from './calendar.ts'
import { type Clockwork, countInstants, type TouchedChange, touchedChanges } from './clock-change.ts'
import type { Field } from './cron-field.ts'
import type { Warning } from './timing.ts'
import { clockText, dateText, offsetText } from './wall-text.ts'

const YEAR_MS = 365 * DAY_MS

interface Facts {
  readonly from: number
  readonly elapsed: boolean
  readonly unseeded: boolean
}

export function cronWarnings(tree: readonly Field[], clockwork: Clockwork, facts: Facts): Warning[] {
  const { from } = facts
  const fires = countInstants(clockwork, from, from + YEAR_MS)
  const warnings: Warning[] = [{ code: 'FIRES_PER_YEAR', text: `${fires} fire${fires === 1 ? '' : 's'} in 12 months` }]
  const [day, weekday] = [tree[3]!, tree[5]!]
  if (!isFree(day) && !isFree(weekday)) warnings.push(bothDays(day, weekday))
  if (facts.unseeded) {
    warnings.push({
      code: 'HASH_UNSEEDED',
      text: 'H was spread without a seed: a schedule derives it from its workspace and key',
    })
  }
  for (const change of touchedChanges(clockwork, from, from + YEAR_MS)) {
    warnings.push(change.kind === 'gap' ? gapWarning(clockwork, change, facts) : foldWarning(clockwork, change, facts))
  }
  return warnings
}

const isFree = (field: Field): boolean => field.text === '*' || field.text === '?'

function bothDays(day: Field, weekday: Field): Warning {
  const both = day.star || weekday.star
  const rule = both
    ? 'one of them starts with *, so a day must match both'
    : 'a day that matches either fires; start one of them with * to demand both'
  return {
    code: 'DAY_OR_WEEKDAY',
    text: `day of month (${day.text}) and weekday (${weekday.text}) are both set: ${rule}`,
  }
}

function gapWarning(clockwork: Clockwork, change: TouchedChange, facts: Facts): Warning {
  const { at, listed, first } = change
  const missing =
    listed === 1 ? `${clockText(first)} does not exist` : `${listed} times from ${clockText(first)} on do not exist`
  const landing = `${clockText(at + change.offsetAfter)}${offsetText(change.offsetAfter)}`
  const once = listed === 1 ? '' : 'once at '
  const effect = facts.elapsed
    ? 'nothing is added, the clock jumps over them'
    : clockwork.gap === 'shift'
      ? `${once}${landing} (dst.gap=shift)`
      : 'skipped (dst.gap=skip)'
  return { code: 'DST_GAP', at: new Date(at), text: `${dateText(first)}  ${missing} → ${effect}` }
}

function foldWarning(clockwork: Clockwork, change: TouchedChange, facts: Facts): Warning {
  const { at, listed, first } = change
  const twice =
    listed === 1 ? `${clockText(first)} occurs twice` : `${listed} times from ${clockText(first)} on occur twice`
  const passes = {
    first: `${clockText(first)}${offsetText(change.offsetBefore)}, first only (dst.fold=first)`,
    second: `${clockText(first)}${offsetText(change.offsetAfter)}, second only (dst.fold=second)`,
    both: facts.elapsed ? 'both passes run, as time really passes' : 'both passes run (dst.fold=both)',
  }
  return { code: 'DST_FOLD', at: new Date(at), text: `${dateText(first)}  ${twice} → ${passes[clockwork.fold]}` }
}
