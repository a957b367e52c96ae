/** As much of the driver's pool and client as the store uses, so that a caller's own pool fits. */

/** As much of a `pg` client as is used; a client of a caller's own pool fits. */
export interface Client {
  /** Of the server's process, as it was told when the connection was made. */
  readonly processID?: number | null
  query(config: QueryConfig): Promise<{ rows: unknown[] }>
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'notification', listener: (message: { channel: string; payload?: string | undefined }) => void): unknown
  on(event: 'end', listener: () => void): unknown
  release(broken?: boolean): void
}

export interface QueryConfig {
  text: string
  values?: unknown[]
  name?: string
  rowMode?: 'array'
  types?: { getTypeParser(oid: number): (text: string) => unknown }
  query_timeout?: number
}

/** A `pg` pool, or what behaves like one. */
export interface Pool {
  connect(): Promise<Client>
}
