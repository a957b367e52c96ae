/** What the verbs of a Postgres store are made of; each takes of it what it needs. */
import type { Connection } from './connection.ts'
import type { Sharing } from './sharing.ts'
import type { Wake } from './wake.ts'

export interface Parts {
  readonly connection: Connection
  readonly wake: Wake
  readonly sharing: Sharing
  /** Quoted. */
  readonly schema: string
}
