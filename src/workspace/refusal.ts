/** Says why a quota refuses: its name, its limit, what is used, and what to do; whether it refuses is decided elsewhere. */
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
      ? `${place} may have no schedule that fires every ${formatDuration(used)}: its quota smallestInterval is ${formatDuration(limit)}`
      : `${place} uses ${used} of its quota ${quota}, which is ${limit}${wanted > 1 ? `: ${wanted} more do not fit` : ''}`
  return new EverytickError(retryAfterMs === undefined ? 'QUOTA_REACHED' : 'QUOTA_SPENT', text, {
    hint: `${QUOTAS[quota].advice}, or let the operator raise the option quotas (${quota})`,
    quota: { name: quota, limit, used },
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}
