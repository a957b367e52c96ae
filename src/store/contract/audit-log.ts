/** Who changed what, in a chain that only grows: each entry carries a hash over itself and the one before, so that a later touch shows. */
import type { Json } from '../../json.ts'

export interface NewAuditEntry {
  /** Whose thing was changed; the empty text for what belongs to the whole fleet. */
  readonly workspace: string
  /** Who: the name of a key, or of a person. */
  readonly actor: string
  /** What was done, such as `schedule.pause`. */
  readonly action: string
  /** To what: its kind and its id or name, such as `schedule default/nightly`. */
  readonly target: string
  readonly before: Json
  readonly after: Json
  /** From where: the address of the caller and the id of the request. */
  readonly origin: Json
}

export interface AuditEntry extends NewAuditEntry {
  /** 1, 2, 3, without gaps. */
  readonly seq: number
  readonly at: number
  /** Of the entry before; 64 zeros for the first. */
  readonly previousHash: string
  /** `auditHash` in `observe/audit-chain.ts`. */
  readonly hash: string
}

export interface AuditPage {
  readonly workspace?: string
  readonly limit: number
  /** The seq of the last of the page before. */
  readonly before?: number
  /** The page ends before the content of its entries exceeds this; it has one at least. */
  readonly maxBytes: number
}

export interface AuditLogStore {
  append(entry: NewAuditEntry): Promise<AuditEntry>
  /** From the newest to the oldest; `before` is the seq of the last of the page before. */
  list(page: { readonly workspace?: string; readonly limit: number; readonly before?: number }): Promise<AuditEntry[]>
  /** The same, bounded by bytes too; `hasMore`: there are older entries. */
  page(page: AuditPage): Promise<{ readonly entries: AuditEntry[]; readonly hasMore: boolean }>
  /** From the oldest to the newest, for a check of the chain; none is left when it answers none. */
  walk(page: { readonly afterSeq: number; readonly limit: number; readonly maxBytes: number }): Promise<AuditEntry[]>
}
