/** What is on record of a failover of the database; how one is recognised is the store's own matter. */

/** `timeline`: a standby was promoted. `system`: another server has the data. `position`: the same server went back in its log. */
export type FailoverCause = 'timeline' | 'system' | 'position'

export interface Failover {
  /** Greater ids are newer. */
  readonly id: string
  readonly cause: FailoverCause
  /** Whether writes that were acknowledged between `from` and `to` may be missing. */
  readonly mayHaveLost: boolean
  /** Everything that was acknowledged before this instant is there. */
  readonly from: number
  /** When the failover was recognised, or the last acknowledgement by the older server where that came later. */
  readonly to: number
  /** Where the write-ahead log of the older server stood at `from`, in bytes. */
  readonly before: { readonly timeline: number; readonly position: number }
  /** Where that of the new server stood when the failover was recognised. */
  readonly after: { readonly timeline: number; readonly position: number }
}
