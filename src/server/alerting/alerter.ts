/** The alerter: evaluates rules and stores alerts with their pending notifications. Fleet rules come first, then the rules of each workspace within its share of the time. */
import type { Alert } from '../../observe/alert.ts'
import { type AlertDecision, decide, over } from '../../observe/alert-decision.ts'
import type { AlertRule, RuleKind, RuleOf } from '../../observe/alert-rule.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Clock } from '../../time/clock.ts'
import { openAlert, type StoredAlert, unresolved, writeAlert } from './alerts.ts'
import { capOf } from './caps.ts'
import type { Channel } from './channel.ts'
import { gather } from './gather.ts'
import { grouped } from './grouped.ts'
import { createMemory, type Memory } from './memory.ts'
import { tell } from './notifications.ts'
import { roundRobin } from './round-robin.ts'
import { allRules } from './rules.ts'
import { type Snapshot, takeSnapshot } from './snapshot.ts'
import { channelsFor } from './stored-channels.ts'

/** Time budgets of one pass, for all workspace rules and for one workspace; the rest waits for the next pass. */
const ALL_MS = 5000
const EACH_MS = 500
/** Limits of one pass per workspace, in notifications and time; the rest waits for the next pass, which must not be delayed. */
const MAX_LISTED = 500
const TELL_MS = 2000

export interface AlerterOptions {
  readonly store: Store
  readonly clock: Clock
  /** The name of this process in alerts. */
  readonly node: string
  readonly newId: () => string
  /** A rule that could not be evaluated; its alerts stay unchanged. */
  readonly onError: (error: unknown) => void
  readonly memory?: Memory
}

/** Whether all fleet rules, and all rules, could be evaluated. */
export interface Passed {
  readonly fleet: boolean
  readonly all: boolean
}

export interface Alerter {
  /** Idempotent, even concurrently. */
  pass(): Promise<Passed>
}

export function createAlerter(options: AlerterOptions): Alerter {
  const { store, clock, node, newId, onError, memory = createMemory() } = options
  const { documents } = store

  const decideOn = async (snapshot: Snapshot, rule: AlertRule, alerts: readonly Alert[]): Promise<AlertDecision> => {
    if (!rule.enabled) return { open: [], refresh: [], resolve: over(alerts, snapshot.now) }
    // The cast is safe: the tables behind both functions pair the rule and the facts of a kind.
    const one = rule as RuleOf<RuleKind>
    return decide(one, await gather(snapshot, { rule: one, alerts }), { alerts, now: snapshot.now })
  }

  const write = async (decision: AlertDecision, versions: ReadonlyMap<string, number>): Promise<StoredAlert[]> => {
    const written: (StoredAlert | null)[] = []
    for (const alert of decision.open) written.push(await openAlert(documents, alert, newId))
    for (const alert of [...decision.refresh, ...decision.resolve])
      written.push(await writeAlert(documents, alert, versions.get(alert.id)!))
    // Null: the alert was changed concurrently; the next pass evaluates it again.
    return written.filter((each) => each !== null)
  }

  const notifyAll = async (
    alerts: readonly Alert[],
    { rules, now }: { readonly rules: ReadonlyMap<string, AlertRule>; readonly now: number },
  ): Promise<void> => {
    const isFleets = ({ ruleId }: Alert): boolean => (rules.get(ruleId)?.workspace ?? '') === ''
    const ordered = [...alerts.filter(isFleets), ...alerts.filter((alert) => !isFleets(alert))]
    const channels = new Map<string, readonly Channel[]>()
    const told = new Map<string, number>()
    const spent = new Map<string, number>()
    for (const alert of roundRobin(ordered, ({ workspace }) => workspace)) {
      const { workspace } = alert
      const [before, spentMs] = [told.get(workspace) ?? 0, spent.get(workspace) ?? 0]
      if (workspace !== '' && (before >= MAX_LISTED || spentMs >= TELL_MS)) continue
      const at = clock.elapsed()
      const those = channels.get(workspace) ?? (await channelsFor(documents, workspace))
      channels.set(workspace, those)
      told.set(
        workspace,
        before + (await tell(documents, alert, { channels: those, rule: rules.get(alert.ruleId), now })),
      )
      spent.set(workspace, spentMs + clock.elapsed() - at)
    }
  }

  const pass = async (): Promise<Passed> => {
    const stored = await unresolved(documents)
    const snapshot = await takeSnapshot({ store, clock, node, memory, queueNames: queuesIn(stored) })
    await snapshot.remember()
    const versions = new Map(stored.map(({ alert, version }) => [alert.id, version]))
    const rules = new Map((await allRules(documents)).map((rule) => [rule.id, rule]))
    const ofRule = grouped(
      stored.map(({ alert }) => alert).filter(({ state }) => state !== 'resolved'),
      ({ ruleId }) => ruleId,
    )
    const changed = new Map(stored.map(({ alert }) => [alert.id, alert]))
    const failed = { fleet: 0, all: 0 }
    const ofOwner = new Map<string, number>()
    for (const { workspace, id } of rules.values())
      ofOwner.set(workspace, (ofOwner.get(workspace) ?? 0) + (ofRule.get(id)?.length ?? 0))

    const execute = async (decision: AlertDecision): Promise<void> => {
      for (const { alert } of await write(decision, versions)) changed.set(alert.id, alert)
    }
    const pollAt = async (rule: AlertRule): Promise<void> => {
      try {
        const decision = await decideOn(snapshot, rule, ofRule.get(rule.id) ?? [])
        const there = ofOwner.get(rule.workspace) ?? 0
        const open = decision.open.slice(0, Math.max(0, capOf(rule.workspace).alerts - there))
        ofOwner.set(rule.workspace, there + open.length)
        await execute({ ...decision, open })
      } catch (error) {
        failed.all++
        if (rule.workspace === '') failed.fleet++
        onError(error)
      }
    }

    const all = [...rules.values()]
    for (const rule of all.filter(({ workspace }) => workspace === '')) await pollAt(rule)
    for (const [ruleId, alerts] of ofRule)
      if (!rules.has(ruleId)) await execute({ open: [], refresh: [], resolve: over(alerts, snapshot.now) })
    await inShares(
      all.filter(({ workspace }) => workspace !== ''),
      { clock, turns: memory.turns, pollAt },
    )
    const untold = [...changed.values()].filter((alert) => alert.untold.length > 0)
    await notifyAll(untold, { rules, now: snapshot.now })
    return { fleet: failed.fleet === 0, all: failed.all === 0 }
  }

  return { pass }
}

const QUEUE = 'queue '

const queuesIn = (stored: readonly StoredAlert[]): ReadonlySet<string> =>
  new Set(stored.flatMap(({ alert: { subject } }) => (subject.startsWith(QUEUE) ? [subject.slice(QUEUE.length)] : [])))

interface Sharing {
  readonly clock: Clock
  readonly turns: Map<string, number>
  readonly pollAt: (rule: AlertRule) => Promise<void>
}

/** Orders rules by the longest wait for a turn, round-robin over workspaces. */
async function inShares(rules: readonly AlertRule[], { clock, turns, pollAt }: Sharing): Promise<void> {
  const ids = new Set(rules.map(({ id }) => id))
  for (const id of turns.keys()) if (!ids.has(id)) turns.delete(id)
  let turn = Math.max(0, ...turns.values())
  const waited = rules.toSorted((a, b) => (turns.get(a.id) ?? 0) - (turns.get(b.id) ?? 0))
  const spent = new Map<string, number>()
  const beganAt = clock.elapsed()
  for (const rule of roundRobin(waited, ({ workspace }) => workspace)) {
    const at = clock.elapsed()
    if (at - beganAt >= ALL_MS) return
    const before = spent.get(rule.workspace) ?? 0
    if (before >= EACH_MS) continue
    await pollAt(rule)
    turns.set(rule.id, ++turn)
    spent.set(rule.workspace, before + clock.elapsed() - at)
  }
}
