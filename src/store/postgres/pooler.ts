/** Finds out whether a pooler shares our sessions with others; what follows from that is for people to decide. */
import { randomUUID } from 'node:crypto'
import type { Client } from './client.ts'
import type { Connection } from './connection.ts'

const PID = 'select pg_backend_pid()::int as pid'
const LEAVE = `select set_config('everytick.seen', $1, false)`
const FIND = `select current_setting('everytick.seen', true) as mark`

/**
 * A pooler makes up the number of the process that it tells its clients, since it has no process to tell of yet. In session
 * mode it then behaves like the server itself; in transaction mode a mark that one client leaves in its session is found by
 * the next one, who is lent the same. Null when clients do not say what they were told.
 */
export function findPooler({ lend, dedicated }: Pick<Connection, 'lend' | 'dedicated'>): Promise<boolean | null> {
  return lend(async (client) => {
    const { processID: told } = client
    if (typeof told !== 'number') return null
    const { pid } = await rowOf<{ pid: number }>(client, PID)
    if (pid === told) return false
    const mark = randomUUID()
    await rowOf(client, LEAVE, mark)
    try {
      const own = await markOf(client)
      return own !== mark || (await markOfNext(dedicated)) === mark
    } finally {
      await rowOf(client, LEAVE, '')
    }
  })
}

const markOf = async (client: Client): Promise<string | null> =>
  (await rowOf<{ mark: string | null }>(client, FIND)).mark

/** Not of the pool that has lent us the first: it might have no other. */
async function markOfNext(dedicated: Connection['dedicated']): Promise<string | null> {
  const next = await dedicated()
  try {
    return await markOf(next)
  } finally {
    next.release()
  }
}

async function rowOf<Row>(client: Client, text: string, ...values: string[]): Promise<Row> {
  return (await client.query({ text, values, query_timeout: 5000 })).rows[0] as Row
}
