/**
 * The limit on Postgres: the least SQL that inserts, claims and finishes a run or fires a schedule, on tables as wide as
 * ours with only the indexes that the work needs; no leases, fences, checks or policies. As durable as ours.
 */
import pg from 'pg'

const SCHEMA = `
  create schema bare;
  create table bare.runs (id uuid primary key, queue text, state text, priority smallint, due_at timestamptz(3),
    created_at timestamptz(3), payload jsonb, policy jsonb, attempt int, fence bigint, worker_id text,
    lease_until timestamptz(3)) with (fillfactor = 70, autovacuum_vacuum_cost_delay = 0);
  create index on bare.runs (queue, due_at) where state = 'pending';
  create table bare.history (like bare.runs, finished_at timestamptz(3), result jsonb);
  create index on bare.history (id);
  create table bare.cursors (id uuid primary key, next_at timestamptz(3)) with (fillfactor = 80);
  create index on bare.cursors (next_at);`

const POLICY = '{"retry":{"attempts":3,"backoff":"exponential","baseMs":1000,"maxMs":3600000},"timeoutMs":3600000}'
const INSERT = `
  insert into bare.runs
  select id, 'default', 'pending', 5, now(), now(), 'null', '${POLICY}', 0, 0, null, null from unnest($1::uuid[]) id`
const CLAIM = `
  update bare.runs set state = 'running', attempt = attempt + 1, fence = fence + 1, worker_id = 'me',
    lease_until = now() + interval '15 seconds'
  where ctid = any(array(
    select ctid from bare.runs where queue = 'default' and state = 'pending' and due_at <= now()
    order by due_at limit $1 for update skip locked))
  returning *`
const FINISH = `
  with gone as (delete from bare.runs where id = any($1::uuid[]) returning *)
  insert into bare.history select gone.*, now(), 'null' from gone`
const ADD = `insert into bare.cursors select id, now() from unnest($1::uuid[]) id`
const FIRE = `
  with moved as (
    update bare.cursors set next_at = next_at + interval '1 hour'
    where ctid = any(array(
      select ctid from bare.cursors where next_at <= now() order by next_at limit $1 for update skip locked))
    returning next_at
  )
  insert into bare.runs
  select gen_random_uuid(), 'default', 'pending', 5, next_at, now(), 'null', '${POLICY}', 0, 0, null, null from moved`

export async function postgresLimit(url) {
  // The table is empty when the statements are first planned; a plan made for that must not be kept.
  const pool = new pg.Pool({ connectionString: url, max: 4, options: '-c enable_seqscan=off' })
  // A connection that is cut off while it closes is no news.
  pool.on('error', () => {})
  await pool.query(SCHEMA)
  const ask = (name, text, ...values) => pool.query({ name, text, values })
  return {
    insert: (ids) => ask('insert', INSERT, ids),
    claim: async (count) => (await ask('claim', CLAIM, count)).rows.map(({ id }) => id),
    finish: (ids) => ask('finish', FINISH, ids),
    schedule: (ids) => ask('add', ADD, ids),
    fire: async (count) => (await ask('fire', FIRE, count)).rowCount,
    close: () => pool.end(),
  }
}
