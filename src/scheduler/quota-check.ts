/** What the gate of quotas takes and answers, for those who pass it; what it does is `quotas.ts`. */

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
  /** Null: off. */
  readonly limit: number | null
  /** Counted no further than one beyond the limit; null for what has no amount. Streams are those of this process. */
  readonly used: number | null
  /** `keys`: for keys that are bound to the workspace alone. */
  readonly appliesTo: 'all' | 'keys'
}

export interface QuotaCheck {
  /** The quotas of a workspace for whoever acts now; null when it has none. */
  limits(workspace: string): Limits | null
  /** Refuses before anything is written. The draws are asked for only where a quota may be in effect. */
  within<T>(draws: () => readonly Draw[] | Promise<readonly Draw[]>, write: () => Promise<T>, tx?: Executor): Promise<T>
  /** Takes the place of a stream that a bound key opens, in this process; returns the function that gives it back, which is idempotent. */
  openStream(workspace: string): () => void
  /** Quotas as a key that is bound to the workspace has them. */
  usage(workspace: string): Promise<readonly QuotaUse[]>
}
