/** Checks the quotas of a workspace before every call that adds to it. */

import type { Executor } from '../store/contract/executor.ts'
import { NAMED } from '../store/contract/quotas.ts'
import type { Store } from '../store/contract/store.ts'
import { isActingBound } from '../workspace/acting.ts'
import { type Limits, limitsOf, QUOTA_NAMES, QUOTAS, type QuotaName } from '../workspace/quotas.ts'
import { type Exhausted, quotaRefusal } from '../workspace/refusal.ts'
import type { Core } from './core.ts'
import { type ByteSum, createByteSum, dayOf, untilNextDay } from './payload-bytes.ts'
import { AMOUNTS, type Amount, type Draw, type QuotaCheck, type QuotaUse } from './quota-check.ts'
import { createTally, type Tally } from './tally.ts'
import { createUsedNames, type UsedNames } from './used-names.ts'

type Needs = Pick<Core, 'settings' | 'clock' | 'timers' | 'hub' | 'store' | 'onStop'>

/** The most workspaces and quotas that one process caches. */
const MAX_KEPT = 10_000
/** How far usage is counted for display when a quota is off. */
const SHOWN_UP_TO = 100_000

export function createQuotaCheck(needs: () => Needs): QuotaCheck {
  const tallies = new Map<string, Tally>()
  const sums = new Map<string, ByteSum>()
  const names = new Map<string, UsedNames>()
  /** Open streams, by workspace. */
  const streams = new Map<string, number>()
  const elapsed = (): number => needs().clock.elapsed()

  const tallyOf = (workspace: string, quota: Amount): Tally =>
    quota === 'payloadBytesPerDay'
      ? sumOf(workspace)
      : kept(tallies, `${quota}\n${workspace}`, () =>
          createTally(
            async (limit, tx) => (await needs().store()).quotas.count(workspace, quota, { upTo: limit + 1, tx }),
            elapsed,
          ),
        )
  const sumOf = (workspace: string): ByteSum => {
    const day = dayOf(needs().clock.now())
    if (sums.size === 0) needs().onStop(reportAll)
    return kept(sums, `${day}\n${workspace}`, () => createByteSum(needs(), { workspace, day }))
  }
  const reportAll = async (): Promise<void> => {
    await Promise.all([...sums.values()].map((sum) => sum.report()))
  }
  const namesOf = (workspace: string, quota: 'queues' | 'tags'): UsedNames =>
    kept(names, `${quota}\n${workspace}`, () =>
      createUsedNames(
        async (upTo, tx) => (await needs().store()).quotas.names(workspace, quota, { upTo, tx }),
        elapsed,
      ),
    )
  const limits = (workspace: string): Limits | null => {
    const { quotas } = needs().settings
    const isBound = isActingBound()
    return quotas === null && !isBound ? null : limitsOf(quotas, { workspace, isBound })
  }
  const refuse = (exhausted: Exhausted): never => {
    const { workspace, quota } = exhausted
    needs().hub.tell({ kind: 'quota.refused', workspace, quota })
    const retryAfterMs = quota === 'payloadBytesPerDay' ? { retryAfterMs: untilNextDay(needs().clock.now()) } : {}
    throw quotaRefusal({ ...exhausted, ...retryAfterMs })
  }

  /** Pushes the functions to call after the write to `ends`. */
  const drawn = async (draw: Draw, ends: (() => void)[], tx: Executor | undefined): Promise<void> => {
    const { workspace, smallestInterval: gap } = draw
    const limited = limits(workspace) ?? {}
    const { smallestInterval: limit } = limited
    if (gap !== undefined && limit !== undefined && gap < limit)
      refuse({ workspace, quota: 'smallestInterval', limit, used: gap })
    for (const quota of AMOUNTS) {
      const [limit, wanted = 0] = [limited[quota], draw[quota]]
      if (limit === undefined || wanted === 0) continue
      const answer = await tallyOf(workspace, quota).draw({ wanted, limit, tx })
      if ('used' in answer) refuse({ workspace, quota, limit, wanted, used: answer.used })
      else ends.push(answer.end)
    }
    for (const quota of NAMED) {
      const [limit, wanted = []] = [limited[quota], draw[quota]]
      if (limit === undefined || wanted.length === 0) continue
      const answer = await namesOf(workspace, quota).draw(wanted, { limit, tx })
      if ('used' in answer) refuse({ workspace, quota, limit, used: answer.used })
      else ends.push(answer.end)
    }
  }

  return {
    limits,
    async within(draws, write, tx) {
      if (needs().settings.quotas === null && !isActingBound()) return write()
      const ends: (() => void)[] = []
      try {
        for (const draw of await draws()) await drawn(draw, ends, tx)
        return await write()
      } finally {
        for (const end of ends) end()
      }
    },
    openStream(workspace) {
      const open = streams.get(workspace) ?? 0
      const { streams: limit } = limitsOf(needs().settings.quotas, { workspace, isBound: true })
      if (limit !== undefined && open >= limit) refuse({ workspace, quota: 'streams', limit, used: open })
      streams.set(workspace, open + 1)
      let isOpen = true
      return () => {
        if (!isOpen) return
        isOpen = false
        const left = streams.get(workspace)! - 1
        if (left > 0) streams.set(workspace, left)
        else streams.delete(workspace)
      }
    },
    async usage(workspace) {
      const { quotas } = needs().settings
      const [bound, all] = [true, false].map((isBound) => limitsOf(quotas, { workspace, isBound }))
      const store = await needs().store()
      const uses = QUOTA_NAMES.map(async (quota): Promise<QuotaUse> => {
        const limit = bound![quota] ?? null
        const used = await usedOf(store, { workspace, quota, upTo: (limit ?? SHOWN_UP_TO) + 1 })
        const appliesTo = limit === null || all![quota] !== undefined ? 'all' : 'keys'
        return { quota, unit: QUOTAS[quota].unit, limit, used, appliesTo }
      })
      return Promise.all(uses)
    },
  }

  async function usedOf(
    store: Store,
    { workspace, quota, upTo }: { readonly workspace: string; readonly quota: QuotaName; readonly upTo: number },
  ): Promise<number | null> {
    if (quota === 'smallestInterval') return null
    if (quota === 'streams') return streams.get(workspace) ?? 0
    if (quota === 'queues' || quota === 'tags') return (await store.quotas.names(workspace, quota, { upTo })).length
    if (quota === 'payloadBytesPerDay') return tallyOf(workspace, quota).count(upTo)
    return store.quotas.count(workspace, quota, { upTo })
  }
}

/** A bounded cache: evicts idle entries, which are counted again on their next use. */
function kept<Value extends { readonly isIdle: boolean }>(
  map: Map<string, Value>,
  key: string,
  make: () => Value,
): Value {
  const known = map.get(key)
  if (known) return known
  if (map.size >= MAX_KEPT) for (const [other, { isIdle }] of map) if (isIdle) map.delete(other)
  const made = make()
  map.set(key, made)
  return made
}
