/** Small things that people make, or that are made for them (keys, rules, alerts, bulk operations): JSON under an id, changed only from the version that was seen. */
import type { Json } from '../../json.ts'

export const DOCUMENT_KINDS = [
  'key',
  'session',
  'invite',
  'request',
  'channel',
  'alert_rule',
  'alert',
  'notification',
  'operation',
  'position',
  'job',
  'failover',
  'secret',
  'quota',
] as const
export type DocumentKind = (typeof DOCUMENT_KINDS)[number]

/** As JSON text; an answer that is kept for its request may hold a whole body. */
export const MAX_DOCUMENT_BYTES = 2 * 1024 * 1024

export interface Document {
  readonly kind: DocumentKind
  readonly id: string
  /** Whose it is; the empty text for what belongs to the whole fleet. */
  readonly workspace: string
  /** What lists are chosen by besides, such as `open`; may be empty. */
  readonly state: string
  readonly data: Json
  /** 1 when it is made, also in the place of one that expired or was removed, and one more with every change. */
  readonly version: number
  readonly createdAt: number
  readonly updatedAt: number
  /** From then on it is not there for anybody; upkeep removes it. Null: it stays. */
  readonly expiresAt: number | null
}

export interface PutDocument extends Pick<Document, 'kind' | 'id' | 'workspace' | 'state' | 'data'> {
  /** The version that the caller saw; 0 when it saw none. */
  readonly from: number
  /** How long it is to be there, from now by the database's clock; absent: it stays. */
  readonly forMs?: number
}

export interface DocumentPage {
  readonly workspace?: string
  readonly state?: string
  readonly limit: number
  /** The last of the page before: pages run from the greatest id to the least, and new ids are greater. */
  readonly after?: string
}

export interface DocumentStore {
  get(kind: DocumentKind, id: string): Promise<Document | null>
  list(kind: DocumentKind, page: DocumentPage): Promise<Document[]>
  /** The different states, beginning with `prefix`, in which documents of a kind are stored (the expired ones included), without reading these. */
  states(kind: DocumentKind, of: { readonly prefix: string; readonly limit: number }): Promise<string[]>
  /** Makes or changes one; null, and nothing is written, when `from` is not the version that is there. One that has expired is not there, and may be made again. */
  put(document: PutDocument): Promise<Document | null>
  /** Answers whether it was there; with `from`, only in that version. */
  remove(kind: DocumentKind, id: string, from?: number): Promise<boolean>
}
