/** Looks at the facts, lets `decide` say what they mean, and writes that down together with what is to be told. */
import type { Alert } from '../../observe/alert.ts'
import { type AlertDecision, decide, over } from '../../observe/alert-decision.ts'
import type { AlertRule, RuleKind, RuleOf } from '../../observe/alert-rule.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Clock } from '../../time/clock.ts'
import { openAlert, type StoredAlert, unresolved, writeAlert } from './alerts.ts'
import { gather } from './gather.ts'
import { grouped } from './grouped.ts'
import { type Look, takeLook } from './look.ts'
import { allChannels, tell } from './notifications.ts'
import { allRules } from './rules.ts'

export interface AlerterOptions {
  readonly store: Store
  readonly clock: Clock
  /** How this process is named where it is spoken of. */
  readonly node: string
  readonly newId: () => string
  /** A rule that could not be looked at; its alerts stay as they are. */
  readonly onError: (error: unknown) => void
}

export interface Alerter {
  /** Safe to do twice, also at once. Answers whether every rule could be looked at. */
  pass(): Promise<boolean>
}

export function createAlerter(options: AlerterOptions): Alerter {
  const { store, clock, node, newId, onError } = options
  const { documents } = store

  const decideOn = async (look: Look, rule: AlertRule, alerts: readonly Alert[]): Promise<AlertDecision> => {
    if (!rule.enabled) return { open: [], refresh: [], resolve: over(alerts, look.now) }
    // One kind as good as any: the tables behind both functions keep rule and facts of a kind together.
    const one = rule as RuleOf<RuleKind>
    return decide(one, await gather(look, { rule: one, alerts }), { alerts, now: look.now })
  }

  const write = async (decision: AlertDecision, versions: ReadonlyMap<string, number>): Promise<StoredAlert[]> => {
    const written: (StoredAlert | null)[] = []
    for (const alert of decision.open) written.push(await openAlert(documents, alert, newId))
    for (const alert of [...decision.refresh, ...decision.resolve])
      written.push(await writeAlert(documents, alert, versions.get(alert.id)!))
    // Null: somebody changed it meanwhile, and the next pass looks at it anew.
    return written.filter((each) => each !== null)
  }

  const pass = async (): Promise<boolean> => {
    const look = await takeLook({ store, clock, node })
    await look.remember()
    const stored = await unresolved(documents)
    const versions = new Map(stored.map(({ alert, version }) => [alert.id, version]))
    const rules = new Map((await allRules(documents)).map((rule) => [rule.id, rule]))
    const ofRule = grouped(
      stored.map(({ alert }) => alert).filter(({ state }) => state !== 'resolved'),
      ({ ruleId }) => ruleId,
    )
    const changed = new Map(stored.map(({ alert }) => [alert.id, alert]))
    let failed = 0
    const carryOut = async (decision: AlertDecision): Promise<void> => {
      for (const { alert } of await write(decision, versions)) changed.set(alert.id, alert)
    }
    for (const rule of rules.values()) {
      try {
        await carryOut(await decideOn(look, rule, ofRule.get(rule.id) ?? []))
      } catch (error) {
        failed++
        onError(error)
      }
    }
    for (const [ruleId, alerts] of ofRule)
      if (!rules.has(ruleId)) await carryOut({ open: [], refresh: [], resolve: over(alerts, look.now) })
    const untold = [...changed.values()].filter((alert) => alert.untold.length > 0)
    if (untold.length > 0) {
      const channels = await allChannels(documents)
      for (const alert of untold)
        await tell(documents, alert, { channels, rule: rules.get(alert.ruleId), now: look.now })
    }
    return failed === 0
  }

  return { pass }
}
