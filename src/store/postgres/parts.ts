/** What the verbs of a Postgres store are made of; each takes of it what it needs. */
import type { Connection } from './connection.ts'
import type { Sharing } from './shared-queues.ts'
import type { Vacuum } from './vacuum.ts'
import type { Wake } from './wake.ts'

export interface Parts {
  readonly connection: Connection
  readonly wake: Wake
  readonly sharing: Sharing
  readonly vacuum: Vacuum
  /** Quoted. */
  readonly schema: string
}
