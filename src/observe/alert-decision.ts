/** Decides, purely, what the facts mean for the alerts of a rule: which open, which are kept up to date, which are over; writing it down is `server/alerting`. */
import { type Alert, type NewAlert, resolved } from './alert.ts'
import { type Condition, conditionsOf } from './alert-condition.ts'
import type { FactsOf } from './alert-facts.ts'
import type { AlertRule, RuleKind, RuleOf } from './alert-rule.ts'

export interface AlertDecision {
  readonly open: readonly NewAlert[]
  /** As they are to be written; their state stays. */
  readonly refresh: readonly Alert[]
  readonly resolve: readonly Alert[]
}

/** Alerts of one rule about one workspace at once: beyond that one more says how many there are. */
export const MAX_ALERTS = 50
/** An alert that goes on is written this often, so that people see that it does. */
const REFRESH_MS = 60_000
/** Who resolves what nobody resolves by hand. */
const BY = 'everytick'

/** `alerts` are those of the rule that are not resolved. */
export function decide<Kind extends RuleKind>(
  rule: RuleOf<Kind>,
  facts: FactsOf<Kind>,
  { alerts, now }: { readonly alerts: readonly Alert[]; readonly now: number },
): AlertDecision {
  if (!rule.enabled) return { open: [], refresh: [], resolve: over(alerts, now) }
  const known = new Map(alerts.map((alert) => [alert.subject, alert]))
  const conditions = bounded(conditionsOf(rule, facts, now), rule, known)
  const present = new Set(conditions.map(({ subject }) => subject))
  const open: NewAlert[] = []
  const refresh: Alert[] = []
  const resolve: Alert[] = []
  for (const condition of conditions) {
    const alert = known.get(condition.subject)
    if (!alert) open.push(newAlert(condition, rule, now))
    else if (isStale(alert, condition, { severity: rule.severity, now }))
      refresh.push(refreshed(alert, condition, { severity: rule.severity, now }))
  }
  for (const alert of alerts) {
    if (present.has(alert.subject)) continue
    const clearedAt = alert.clearedAt ?? now
    if (now - clearedAt >= rule.resolveAfterMs) resolve.push(...over([{ ...alert, clearedAt }], now))
    else if (alert.clearedAt === null) refresh.push({ ...alert, clearedAt })
  }
  return { open, refresh, resolve }
}

function newAlert(
  { share: _, ...condition }: Condition,
  { id: ruleId, kind, severity }: Pick<AlertRule, 'id' | 'kind' | 'severity'>,
  openedAt: number,
): NewAlert {
  return { ...condition, ruleId, kind, severity, openedAt }
}

/** For alerts whose rule is gone or switched off. */
export const over = (alerts: readonly Alert[], now: number): Alert[] =>
  alerts.flatMap((alert) => resolved(alert, { by: BY, at: now }) ?? [])

interface Seen {
  readonly severity: Alert['severity']
  readonly now: number
}

const muteEnded = ({ mutedUntil }: Alert, now: number): boolean => mutedUntil !== null && mutedUntil <= now

const isStale = (alert: Alert, { title }: Condition, { severity, now }: Seen): boolean =>
  alert.clearedAt !== null ||
  now - alert.seenAt >= REFRESH_MS ||
  alert.title !== title ||
  alert.severity !== severity ||
  muteEnded(alert, now)

function refreshed(alert: Alert, { title, values }: Condition, { severity, now }: Seen): Alert {
  const next = { ...alert, title, values, severity, seenAt: now, clearedAt: null }
  if (!muteEnded(alert, now)) return next
  return { ...next, mutedUntil: null, untold: [...alert.untold, `unmuted@${alert.mutedUntil}`] }
}

/** The share of each workspace by itself, so that no one fills the places of another; those that are known first, so that none is taken to be over because there are too many. */
function bounded(
  conditions: readonly Condition[],
  { name }: Pick<RuleOf<RuleKind>, 'name'>,
  known: ReadonlyMap<string, Alert>,
): readonly Condition[] {
  const groups = new Map<string, Condition[]>()
  for (const each of conditions) {
    const share = each.share ?? each.workspace
    const group = groups.get(share)
    if (group) group.push(each)
    else groups.set(share, [each])
  }
  const isKnown = ({ subject }: Condition): boolean => known.has(subject)
  return [...groups].flatMap(([share, those]) => {
    if (those.length <= MAX_ALERTS) return those
    const sorted = [...those.filter(isKnown), ...those.filter((each) => !isKnown(each))]
    const subject = share === '' ? 'more' : `more ${share}`
    const where = share === '' ? '' : ` in workspace ${share}`
    const title = `${name}: there are more than ${MAX_ALERTS}${where}`
    const more = { subject, workspace: those[0]!.workspace, title, values: { more: sorted.length - MAX_ALERTS } }
    return [...sorted.slice(0, MAX_ALERTS), more]
  })
}
