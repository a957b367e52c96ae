/** `everytick audit-log`: who changed what over HTTP, and whether the chain of hashes still holds. */
import { answer, listOf } from '../answer.ts'
import type { BackendOptions } from '../backend.ts'
import { type Io, withBackend } from '../io.ts'
import type { ListOptions } from '../listing.ts'
import { rowsText } from '../print.ts'
import { UsageError } from '../usage-error.ts'

export interface AuditLogOptions extends BackendOptions, ListOptions {
  readonly workspace?: string
}

interface Entry {
  readonly seq: number
  readonly at: string
  readonly workspace: string
  readonly actor: string
  readonly action: string
  readonly target: string
}

export function listAuditLog(options: AuditLogOptions, io: Io): Promise<void> {
  return withBackend(options, async (backend) => {
    const query = { workspace: options.workspace }
    const entries = await listOf<Entry>(backend, '/audit', { ...options, io, query })
    await answer(entries, { ...options, io }, (found, view) => {
      const rows = found.map(({ seq, at, workspace, actor, action, target }) => [
        ...[String(seq), at, actor, action, workspace || '-', target],
      ])
      return rowsText(['SEQ', 'AT', 'WHO', 'ACTION', 'WORKSPACE', 'TARGET'], rows, view)
    })
  })
}

export function verifyAuditLog(options: AuditLogOptions, io: Io): Promise<void> {
  return withBackend(options, async (backend) => {
    const found = await backend.ask<{ entries: number; brokenAt: number | null }>('GET', '/audit/verify')
    const { entries, brokenAt } = found
    if (brokenAt === null || options.json)
      await answer(found, { ...options, io }, () => `${entries} entries, and every one fits the one before it\n`)
    if (brokenAt === null) return
    throw new UsageError(`the audit log was touched: entry ${brokenAt} does not fit the one before it`, {
      code: 'CHECK_FAILED',
    })
  })
}
