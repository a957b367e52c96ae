/**
 * The limit on SQLite: the least SQL that inserts, claims and finishes a run or fires a schedule, on tables as wide as
 * ours with only the indexes that the work needs; no leases, fences, checks or policies. As durable as ours.
 */
import { openDatabase } from '../../dist/store/sqlite/driver.js'

const SCHEMA = `
  pragma journal_mode = wal; pragma synchronous = full; pragma cache_size = -32000; pragma temp_store = memory;
  create table runs (id text primary key, queue text, state text, priority integer, due_at integer, created_at integer,
    payload text, policy text, attempt integer, fence integer, worker_id text, lease_until integer) strict;
  create index pending on runs (queue, due_at) where state = 'pending';
  create table history (id text primary key, queue text, state text, priority integer, due_at integer, created_at integer,
    payload text, policy text, attempt integer, fence integer, worker_id text, finished_at integer, result text) strict;
  create table cursors (id text primary key, next_at integer) strict, without rowid;
  create index due on cursors (next_at);`

const POLICY = '{"retry":{"attempts":3,"backoff":"exponential","baseMs":1000,"maxMs":3600000},"timeoutMs":3600000}'
const INSERT = `insert into runs values (?, 'default', 'pending', 5, ?, ?, 'null', '${POLICY}', 0, 0, null, null)`
/** A statement for each would be two thirds of the cost. */
const INSERT_MANY = `
  insert into runs select value, 'default', 'pending', 5, ?, ?, 'null', '${POLICY}', 0, 0, null, null from json_each(?)`
const CLAIM = `
  update runs set state = 'running', attempt = attempt + 1, fence = fence + 1, worker_id = 'me', lease_until = ?
  where rowid in (select rowid from runs where state = 'pending' and queue = 'default' and due_at <= ? order by due_at limit ?)
  returning *`
const ARCHIVE = `
  insert into history select id, queue, 'succeeded', priority, due_at, created_at, payload, policy, attempt, fence, worker_id,
    ?, 'null' from runs where id = ?`
const FORGET = `delete from runs where id = ?`
const DUE = `select id, next_at from cursors where next_at <= ? order by next_at limit ?`
const MOVE = `update cursors set next_at = ? where id = ?`
const ADD = `insert into cursors values (?, ?)`

export async function sqliteLimit(path) {
  const database = await openDatabase(path)
  database.exec(SCHEMA)
  const known = new Map()
  const statement = (text) => known.get(text) ?? known.set(text, database.prepare(text)).get(text)
  const durably = (work) => {
    database.exec('begin immediate')
    const answer = work()
    database.exec('commit')
    return answer
  }
  const now = () => Date.now()
  return {
    insert: async (ids) =>
      durably(() => {
        const at = now()
        statement(INSERT_MANY).run(at, at, JSON.stringify(ids))
      }),
    claim: async (count) => {
      const at = now()
      return durably(() => statement(CLAIM).all(at + 15_000, at, count)).map(({ id }) => id)
    },
    finish: async (ids) =>
      durably(() => {
        const at = now()
        for (const id of ids) {
          statement(ARCHIVE).run(at, id)
          statement(FORGET).run(id)
        }
      }),
    schedule: async (ids) =>
      durably(() => {
        for (const id of ids) statement(ADD).run(id, now())
      }),
    /** Reads due cursors, moves each by an hour and inserts a run for it; answers how many there were. */
    fire: async (count, newIds) =>
      durably(() => {
        const at = now()
        const due = statement(DUE).all(at, count)
        for (const [i, { id, next_at }] of due.entries()) {
          statement(MOVE).run(next_at + 3_600_000, id)
          statement(INSERT).run(newIds[i], next_at, at)
        }
        return due.length
      }),
    close: async () => database.close(),
  }
}
