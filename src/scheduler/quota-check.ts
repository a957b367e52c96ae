/** The interface of the quota check; `quotas.ts` implements it. */

import type { Executor } from '../store/contract/executor.ts'
import { COUNTED } from '../store/contract/quotas.ts'
import type { Limits, QuotaName, QuotaUnit } from '../workspace/quotas.ts'

export const AMOUNTS = [...COUNTED, 'payloadBytesPerDay'] as const
export type Amount = (typeof AMOUNTS)[number]

/** What a call would add to one workspace. */
export interface Draw extends Readonly<Partial<Record<Amount, number>>> {
  readonly workspace: string
  readonly queues?: readonly string[]
  readonly tags?: readonly string[]
  /** The smallest gap between occurrences of a schedule that it writes. */
  readonly smallestInterval?: number
}

export interface QuotaUse {
  readonly quota: QuotaName
  readonly unit: QuotaUnit
  /** Null: no limit. */
  readonly limit: number | null
  /** Counted up to one above the limit; null for quotas without an amount. `streams` counts those of this process. */
  readonly used: number | null
  /** `keys`: the quota applies only to API keys bound to the workspace. */
  readonly appliesTo: 'all' | 'keys'
}

export interface QuotaCheck {
  /** The quotas of a workspace for the current caller; null without any. */
  limits(workspace: string): Limits | null
  /** Throws before `write` if a quota is exceeded. Calls `draws` only if a quota may apply. */
  within<T>(draws: () => readonly Draw[] | Promise<readonly Draw[]>, write: () => Promise<T>, tx?: Executor): Promise<T>
  /** Counts an event stream that a bound key opens in this process; returns an idempotent function that releases it. */
  openStream(workspace: string): () => void
  /** The quotas that apply to an API key bound to the workspace. */
  usage(workspace: string): Promise<readonly QuotaUse[]>
}
