/** Compares what the store says happened with what should have, by the slow reference, with what the handlers wrote down, and with the product's own audit. */
import type { Run } from '../../src/run/run.ts'
import { timeZone } from '../../src/schedule/time-zone.ts'
import { auditSchedule } from '../../src/scheduler/audit-schedule.ts'
import type { Store } from '../../src/store/contract/store.ts'
import { reference } from '../time/reference.ts'
import type { Effect } from './fleet.ts'

export interface Watched {
  readonly scheduleId: string
  /** A cron expression in this zone, or an interval in milliseconds. */
  readonly when: { readonly cron: string; readonly timezone: string } | { readonly everyMs: number }
  /** Occurrences after this count. */
  readonly sinceAt: number
}

export interface Verdicts {
  readonly expected: number
  /** Each should stay empty. */
  readonly lost: string[]
  readonly doubled: string[]
  readonly unexpected: string[]
  readonly unfinished: string[]
  readonly staleAccepted: string[]
  readonly unwitnessed: string[]
  /** What a handler wrote down for a run that the store does not know. */
  readonly unknownEffects: string[]
  /** What the product's own audit says otherwise. */
  readonly disputed: string[]
}

export async function allRuns(store: Store, scheduleId: string): Promise<Run[]> {
  const found: Run[] = []
  for (;;) {
    const last = found.at(-1)
    const page = await store.history.runs({ scheduleId }, { limit: 200, ...(last ? { after: { id: last.id } } : {}) })
    found.push(...page)
    if (page.length < 200) return found
  }
}

function expectedSlots({ when, sinceAt }: Watched, untilAt: number): number[] {
  if ('cron' in when) return reference(when.cron, timeZone(when.timezone)).within(sinceAt + 1, untilAt + 1)
  const slots: number[] = []
  for (let at = Math.floor(sinceAt / when.everyMs) * when.everyMs + when.everyMs; at <= untilAt; at += when.everyMs)
    slots.push(at)
  return slots
}

export async function audit(
  store: Store,
  watched: readonly Watched[],
  { untilAt, effects }: { untilAt: number; effects: readonly Effect[] },
): Promise<Verdicts> {
  const verdicts: Verdicts = {
    expected: 0,
    lost: [],
    doubled: [],
    unexpected: [],
    unfinished: [],
    staleAccepted: [],
    unwitnessed: [],
    unknownEffects: [],
    disputed: [],
  }
  const known = new Set<string>()
  const seen = new Set(effects.map(({ id, fence }) => `${id} ${fence}`))
  let expected = 0
  for (const each of watched) {
    const slots = new Set(expectedSlots(each, untilAt))
    expected += slots.size
    const counts = new Map<number, number>()
    for (const run of await allRuns(store, each.scheduleId)) {
      const at = run.scheduledAt!
      known.add(run.id)
      if (at > untilAt) continue
      counts.set(at, (counts.get(at) ?? 0) + 1)
      const name = `${each.scheduleId} ${new Date(at).toISOString()}`
      if (!slots.has(at)) verdicts.unexpected.push(name)
      if (run.state !== 'succeeded') verdicts.unfinished.push(`${name} ${run.state}`)
      else {
        const { fence } = run.result as { fence: number }
        if (fence !== run.fence) verdicts.staleAccepted.push(name)
        if (!seen.has(`${run.id} ${fence}`)) verdicts.unwitnessed.push(name)
      }
    }
    verdicts.disputed.push(...(await disputes(store, each, { untilAt, expected: slots.size })))
    for (const at of slots) {
      const count = counts.get(at) ?? 0
      if (count === 0) verdicts.lost.push(`${each.scheduleId} ${new Date(at).toISOString()}`)
      if (count > 1) verdicts.doubled.push(`${each.scheduleId} ${new Date(at).toISOString()}`)
    }
  }
  for (const { id, fence } of effects) if (!known.has(id)) verdicts.unknownEffects.push(`${id} ${fence}`)
  return { ...verdicts, expected }
}

async function disputes(
  store: Store,
  { scheduleId, sinceAt }: Watched,
  { untilAt, expected }: { untilAt: number; expected: number },
): Promise<string[]> {
  const schedule = (await store.schedules.list({ limit: 1000 })).find(({ id }) => id === scheduleId)
  if (!schedule) return [`${scheduleId} is gone`]
  const found = await auditSchedule(store, schedule, { afterAt: sinceAt, untilAt, forgottenAt: 0 })
  if (typeof found === 'string') return [`${scheduleId} is ${found}`]
  const { runs, nonRuns, pending, lost, doubled, unexplained } = found
  const seen = { expected: found.expected, runs, nonRuns, pending, lost, doubled, unexplained }
  const none = { count: 0, first: [] }
  const wanted = { expected, runs: expected, nonRuns: 0, pending: 0, lost: none, doubled: none, unexplained: none }
  return JSON.stringify(seen) === JSON.stringify(wanted) ? [] : [`${scheduleId} ${JSON.stringify(seen)}`]
}

export const CLEAN = {
  ...{ lost: [], doubled: [], unexpected: [], unfinished: [], staleAccepted: [], unwitnessed: [] },
  unknownEffects: [],
  disputed: [],
}
