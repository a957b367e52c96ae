/** `everytick quotas`: the quotas of a workspace and their usage. */
import { formatDuration } from '../../time/duration.ts'
import { answer, type JsonOption } from '../answer.ts'
import type { BackendOptions } from '../backend.ts'
import { type Io, withBackend } from '../io.ts'
import { rowsText } from '../print.ts'

export interface QuotasOptions extends BackendOptions, JsonOption {
  readonly workspace?: string
}

interface Quota {
  readonly quota: string
  readonly unit: string
  readonly limit: number | null
  readonly used: number | null
  readonly appliesTo: string
}

export function listQuotas(options: QuotasOptions, io: Io): Promise<void> {
  const { workspace } = options
  const query = workspace === undefined ? '' : `?workspace=${encodeURIComponent(workspace)}`
  return withBackend(options, async (backend) => {
    const { data } = await backend.ask<{ readonly data: readonly Quota[] }>('GET', `/quotas${query}`)
    await answer(data, { ...options, io }, (quotas, view) => {
      const rows = quotas.map(({ quota, unit, limit, used, appliesTo }) => [
        ...[quota, used === null ? '-' : amountText(used, unit), limit === null ? 'off' : amountText(limit, unit)],
        appliesTo === 'keys' ? 'bound keys' : 'all callers',
      ])
      return rowsText(['QUOTA', 'USED', 'LIMIT', 'APPLIES TO'], rows, view)
    })
  })
}

const amountText = (amount: number, unit: string): string =>
  unit === 'ms' ? formatDuration(amount) : unit === 'bytes' ? `${amount} bytes` : String(amount)
