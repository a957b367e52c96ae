/** The error of an exceeded quota: its name, its limit, the usage, and what to do. */
import { EverytickError } from '../errors.ts'
import { printable } from '../printable.ts'
import { formatDuration } from '../time/duration.ts'
import { QUOTAS, type QuotaName } from './quotas.ts'

export interface Exhausted {
  readonly workspace: string
  readonly quota: QuotaName
  readonly limit: number
  /** Of `smallestInterval`: the gap that the timing has. */
  readonly used: number
  /** How much the refused call would have added. */
  readonly wanted?: number
  /** Of amounts that are counted by the day. */
  readonly retryAfterMs?: number
}

export function quotaRefusal({ workspace, quota, limit, used, wanted = 1, retryAfterMs }: Exhausted): EverytickError {
  const place = `workspace ${JSON.stringify(printable(workspace))}`
  const text =
    quota === 'smallestInterval'
      ? `the schedule fires every ${formatDuration(used)}, and the quota smallestInterval of ${place} is ${formatDuration(limit)}`
      : `${place} uses ${used} of ${limit} of its quota ${quota}${wanted > 1 ? `, and ${wanted} more exceed it` : ''}`
  return new EverytickError(retryAfterMs === undefined ? 'QUOTA_REACHED' : 'QUOTA_SPENT', text, {
    hint: `${QUOTAS[quota].advice}, or ask the operator to raise ${quota} in the option quotas`,
    quota: { name: quota, limit, used },
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}
