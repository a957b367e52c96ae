/** `everytick audit-log`: lists changes over HTTP and verifies the hash chain. */
import { answer, listOf } from '../answer.ts'
import type { BackendOptions } from '../backend.ts'
import { type Io, withBackend } from '../io.ts'
import type { ListOptions } from '../listing.ts'
import { printable, rowsText } from '../print.ts'
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

interface Head {
  readonly entries: number
  readonly at: string | null
  readonly hash: string
}

export function headOfAuditLog(options: AuditLogOptions, io: Io): Promise<void> {
  return withBackend(options, async (backend) => {
    const head = await backend.ask<Head>('GET', '/audit/head')
    await answer(head, { ...options, io }, ({ entries, at, hash }, view) =>
      rowsText(['ENTRY', 'AT', 'HASH'], [[String(entries), at ?? '-', hash]], view),
    )
  })
}

export interface VerifyOptions extends AuditLogOptions {
  readonly expect?: string
}

interface Verified {
  readonly entries: number
  readonly brokenAt: number | null
  readonly hash: string
  readonly expectedAt: number | null
}

export function verifyAuditLog(options: VerifyOptions, io: Io): Promise<void> {
  const expected = options.expect?.trim()
  if (expected !== undefined && !/^[0-9a-f]{12,64}$/i.test(expected))
    throw new UsageError('--expect is not the hash of an audit log', {
      hint: 'pass the hash that everytick audit-log head printed: 64 hexadecimal digits, or at least the first 12',
    })
  return withBackend(options, async (backend) => {
    const found = await backend.ask<Verified>('GET', '/audit/verify', { query: { expect: expected } })
    const wrong = wrongWith(found, expected)
    if (wrong === null || options.json) await answer(found, { ...options, io }, () => soundText(found))
    if (wrong !== null) throw new UsageError(wrong, { code: 'CHECK_FAILED' })
  })
}

function wrongWith({ brokenAt, expectedAt, entries }: Verified, expected: string | undefined): string | null {
  if (brokenAt !== null)
    return `the audit log was altered: the hash of entry ${brokenAt} does not match the previous entry`
  if (expected === undefined || expectedAt !== null) return null
  return `none of the ${entries} audit log entries has the hash ${expected}: the log was truncated or rewritten, or this is another database`
}

function soundText({ entries, expectedAt }: Verified): string {
  const expected = expectedAt !== null ? `; entry ${expectedAt} has the expected hash` : ''
  return `${printable(`${entries} entries, hash chain intact${expected}`)}\n`
}
