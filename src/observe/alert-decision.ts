/** Decides from the conditions which alerts of a rule to open, update or resolve. Pure; `server/alerting` stores the result. */
import { type Alert, type NewAlert, resolved } from './alert.ts'
import { type Condition, conditionsOf } from './alert-condition.ts'
import type { FactsOf } from './alert-facts.ts'
import type { AlertRule, RuleKind, RuleOf } from './alert-rule.ts'

export interface AlertDecision {
  readonly open: readonly NewAlert[]
  /** Alerts to update without a state change. */
  readonly refresh: readonly Alert[]
  readonly resolve: readonly Alert[]
}

/** The most alerts per rule and workspace; one more alert counts the rest. */
export const MAX_ALERTS = 50
/** A continuing alert is updated this often, so that its age is visible. */
const REFRESH_MS = 60_000
/** The actor of automatic resolves. */
const BY = 'everytick'

/** `alerts`: the unresolved alerts of the rule. */
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

/** For alerts whose rule was removed or disabled. */
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

/** Limits conditions per workspace, so that none crowds out another. Conditions with an alert come first, so that the limit does not resolve them. */
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
