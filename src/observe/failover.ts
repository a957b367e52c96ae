/** The record of a database failover; the store detects failovers. */

/** `timeline`: a standby was promoted. `system`: another server has the data. `position`: the same server went back in its log. */
export type FailoverCause = 'timeline' | 'system' | 'position'

export interface Failover {
  /** Greater ids are newer. */
  readonly id: string
  readonly cause: FailoverCause
  /** Whether writes that were acknowledged between `from` and `to` may be missing. */
  readonly mayHaveLost: boolean
  /** All writes that were acknowledged before this instant are present. */
  readonly from: number
  /** When the failover was detected, or the last acknowledgement by the old server if that was later. */
  readonly to: number
  /** The WAL position of the old server at `from`, in bytes. */
  readonly before: { readonly timeline: number; readonly position: number }
  /** The WAL position of the new server when the failover was detected. */
  readonly after: { readonly timeline: number; readonly position: number }
}
