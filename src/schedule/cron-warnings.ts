/** What a careful author should know of a cron expression before saving it; it decides nothing about firing. */
import { DAY_MS } from './calendar.ts'
import {
  type Clockwork,
  countInstants,
  nextInstant,
  prevInstant,
  type TouchedChange,
  touchedChanges,
} from './clock-change.ts'
import type { Field } from './cron-field.ts'
import { NEVER_MS } from './never.ts'
import type { Warning } from './timing.ts'
import { clockText, dateText, offsetText } from './wall-text.ts'

const YEAR_MS = 365 * DAY_MS

interface Facts {
  readonly from: number
  readonly unseeded: boolean
}

export function cronWarnings(tree: readonly Field[], clockwork: Clockwork, facts: Facts): Warning[] {
  const { from } = facts
  const fires = countInstants(clockwork, from, from + YEAR_MS)
  const warnings: Warning[] = [{ code: 'FIRES_PER_YEAR', text: `${fires} fire${fires === 1 ? '' : 's'} in 12 months` }]
  warnings.push(...endWarnings(clockwork, from))
  const [day, weekday] = [tree[3]!, tree[5]!]
  if (!isFree(day) && !isFree(weekday)) warnings.push(bothDays(day, weekday))
  if (facts.unseeded) {
    warnings.push({
      code: 'HASH_UNSEEDED',
      text: 'H was spread without a seed: a schedule derives it from its workspace and key',
    })
  }
  for (const change of touchedChanges(clockwork, from, from + YEAR_MS)) {
    warnings.push(change.kind === 'gap' ? gapWarning(clockwork, tree, change) : foldWarning(clockwork, tree, change))
  }
  return warnings
}

/** Nothing to come, or an end in sight: only listed years bring an expression to an end. */
function endWarnings(clockwork: Clockwork, from: number): Warning[] {
  const next = nextInstant(clockwork, from)
  if (Number.isNaN(next) || next - from > NEVER_MS) {
    return [{ code: 'NEVER', text: 'no fire in the next 8 years: schedules reject this expression' }]
  }
  const end = clockwork.pattern.years?.spans.at(-1)?.to
  if (end === undefined) return []
  const last = prevInstant(clockwork, end + DAY_MS)
  return [
    {
      code: 'ENDS',
      at: new Date(last),
      text: `the last fire is at ${new Date(last).toISOString()}; after that, schedules reject the expression`,
    },
  ]
}

const isFree = (field: Field): boolean => ['*', '?', '+*'].includes(field.text)

function bothDays(day: Field, weekday: Field): Warning {
  const plus = weekday.text.startsWith('+')
  const rule =
    day.both || weekday.both
      ? `${plus ? 'the weekday starts with +' : 'one of them starts with *'}, so a day must match both`
      : 'a day that matches either fires; put + before the weekday to demand both'
  return {
    code: 'DAY_OR_WEEKDAY',
    text: `day of month (${day.text}) and weekday (${weekday.text}) are both set: ${rule}`,
  }
}

function gapWarning(clockwork: Clockwork, tree: readonly Field[], change: TouchedChange): Warning {
  const { at, listed, first } = change
  const missing =
    listed === 1 ? `${clockText(first)} does not exist` : `${listed} times from ${clockText(first)} on do not exist`
  const landing = `${clockText(at + change.offsetAfter)}${offsetText(change.offsetAfter)}`
  const once = listed === 1 ? '' : 'once at '
  const effect = tree[2]!.wild
    ? 'nothing is added, the clock jumps over them'
    : clockwork.gap === 'shift'
      ? `${once}${landing} (dst.gap=shift)`
      : 'skipped (dst.gap=skip)'
  return { code: 'DST_GAP', at: new Date(at), text: `${dateText(first)}  ${missing} → ${effect}` }
}

function foldWarning(clockwork: Clockwork, tree: readonly Field[], change: TouchedChange): Warning {
  const { at, listed, first } = change
  const twice =
    listed === 1 ? `${clockText(first)} occurs twice` : `${listed} times from ${clockText(first)} on occur twice`
  const elapsed = tree.slice(0, 3).some((field) => field.wild)
  const passes = {
    first: `${clockText(first)}${offsetText(change.offsetBefore)}, first only (dst.fold=first)`,
    second: `${clockText(first)}${offsetText(change.offsetAfter)}, second only (dst.fold=second)`,
    both: elapsed ? 'both passes run, as time really passes' : 'both passes run (dst.fold=both)',
  }
  return { code: 'DST_FOLD', at: new Date(at), text: `${dateText(first)}  ${twice} → ${passes[clockwork.fold]}` }
}
