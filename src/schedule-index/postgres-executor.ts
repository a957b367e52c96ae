/** What the index asks of a Postgres client, and how a pool of `pg` gives it; which statements run is not known here. */

interface Answer {
  readonly rows: readonly unknown[]
}

type Query = (text: string, values: unknown[]) => Promise<Answer> | Answer

/** One transaction on one connection; after `commit` or `rollback` the connection is given back. */
export interface PostgresTransaction {
  readonly query: Query
  commit(): Promise<void> | void
  rollback(): Promise<void> | void
}

export interface PostgresExecutor {
  readonly query: Query
  beginTx(): Promise<PostgresTransaction> | PostgresTransaction
}

/** As much of a client of `pg` as is used. */
export interface PgClient {
  query(text: string, values?: unknown[]): Promise<Answer>
  on(event: 'error', listener: (error: Error) => void): unknown
  off(event: 'error', listener: (error: Error) => void): unknown
  release(broken?: boolean): void
}

/** As much of a pool of `pg` as is used. */
export interface PgPool {
  query(text: string, values?: unknown[]): Promise<Answer>
  connect(): Promise<PgClient>
}

export function fromPgPool(pool: PgPool): PostgresExecutor {
  return {
    query: (text, values) => pool.query(text, values),
    async beginTx() {
      const client = await pool.connect()
      // A borrowed client that loses its connection says so by an event, which would end the process if nobody listened.
      client.on('error', unheard)
      const end = async (statement: string): Promise<void> => {
        let broken = true
        try {
          await client.query(statement)
          broken = false
        } finally {
          client.off('error', unheard)
          client.release(broken)
        }
      }
      try {
        // Said, not left to the default of the database: a stricter level would fail where a claim should look again.
        await client.query('begin isolation level read committed')
      } catch (error) {
        client.off('error', unheard)
        client.release(true)
        throw error
      }
      return {
        query: (text, values) => client.query(text, values),
        commit: () => end('commit'),
        rollback: () => end('rollback'),
      }
    },
  }
}

/** The statement in flight fails as well, and that failure is the one that is told. */
const unheard = (): void => {}
