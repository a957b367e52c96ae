/** Fills a Postgres database with the fleet: what the store itself has written is copied by SQL, and sums and live runs are made by the store's own verbs. */
import { everytick } from 'everytick'
import { DAY_MS } from '../core/seeding.mjs'
import {
  anchorSql,
  FAILED,
  idOf,
  idSql,
  JOBS,
  jobSql,
  keySql,
  QUARANTINED,
  queueSql,
  SHARES,
  scheduleOfRunSql,
  TAGS,
  templates,
  workspaceSql,
} from './fleet.mjs'

/** The session of the filling only: the server commits as durably as ever afterwards. */
const HASTE = `set synchronous_commit = off; set maintenance_work_mem = '512MB'; set work_mem = '64MB'`
const PLACE = 'template'
const LIVE = { pending: 1500, running: 100 }
const HOUR_MS = 3_600_000

/** Answers how long its parts took, in seconds. */
export async function fill(place, { schedules, runs, days }, note) {
  const took = {}
  const timed = async (name, work) => {
    const startedAt = performance.now()
    await work()
    took[name] = (performance.now() - startedAt) / 1000
    note(`${name}: ${took[name].toFixed(1)} s`)
  }
  const store = await place.open()
  try {
    await timed('schedules', () => fillSchedules(place, store, schedules))
    await timed('history', () => fillHistory(place, { schedules, runs, days }))
    await timed('live', () => fillLive(store))
    await timed('check', () => check(store, schedules))
    took.longestRoll = 0
    await timed('sums', async () => {
      for (let more = true; more; ) {
        const startedAt = performance.now()
        more = (await store.stats.roll()).more
        took.longestRoll = Math.max(took.longestRoll, (performance.now() - startedAt) / 1000)
      }
    })
    await place.session((client) => client.query('vacuum analyze everytick.stats'))
    await place.session((client) => client.query('checkpoint'))
  } finally {
    await store.close()
  }
  return took
}

async function fillSchedules(place, store, count) {
  const app = everytick({ store, jobs: JOBS })
  const made = templates(PLACE)
  for (let from = 0; from < made.length; from += 1000) await app.schedules.upsertMany(made.slice(from, from + 1000))
  await app.schedules.pause(PLACE, made[0].key, { reason: 'over the holidays', by: 'ana' })
  await place.session(async (client) => {
    await client.query(HASTE)
    await client.query(`
      create temp table templates as
      select (row_number() over (order by s.key) - 1)::bigint as t, s.*, c.next_at, c.watermark_at, c.planned_at
      from everytick.schedules s join everytick.cursors c on c.schedule_id = s.id where s.workspace = '${PLACE}'`)
    await client.query('analyze templates')
    const [{ pause }] = (await client.query('select pause from templates where pause is not null')).rows
    const quarantine = { code: 'TIMING_INVALID', message: 'the expression cannot be read', at: Date.now() }
    const per = Math.max(1, Math.floor(count / QUARANTINED))
    const changes = {
      id: idSql('n'),
      workspace: workspaceSql('n'),
      key: keySql('n'),
      job: jobSql('n'),
      queue: queueSql('n'),
      timing: `case when t.timing ->> 'kind' = 'interval'
        then regexp_replace(t.timing::text, '"anchorAt":\\d+', '"anchorAt":' || ${anchorSql('n')})::json else t.timing end`,
      tags: `case when n % ${SHARES.tagged} = 3 then jsonb_build_array((array['${TAGS.join("','")}'])[n / 10 % ${TAGS.length} + 1])
        else '[]' end`,
      pause: `case when n % ${SHARES.paused} = 5 then ${literal(pause)}::jsonb end`,
      quarantine: `case when n % ${per} = 7 then ${literal(quarantine)}::jsonb end`,
    }
    const columns = await columnsOf(client, 'schedules')
    await client.query(`
      insert into everytick.schedules (${columns.join()})
      select ${columns.map((name) => changes[name] ?? `t.${name}`).join()}
      from generate_series(0, ${count - 1}::bigint) n join templates t on t.t = n * 13 % ${made.length}`)
    // Nobody plans here: what is not meant to be late lies ahead for as long as anybody asks.
    await client.query(`
      insert into everytick.cursors (schedule_id, next_at, watermark_at, planned_at, revision)
      select ${idSql('n')},
        case when n % ${SHARES.paused} = 5 or n % ${per} = 7 then null
          when n % ${SHARES.overdue} = 11 then now() - interval '10 minutes'
          else greatest(t.next_at, now()) + interval '1 day' end,
        t.watermark_at, t.planned_at, 1
      from generate_series(0, ${count - 1}::bigint) n join templates t on t.t = n * 13 % ${made.length}`)
  })
  await store.schedules.removeWorkspace(PLACE, 'benchmark')
  await place.session((client) =>
    client.query('vacuum analyze everytick.schedules, everytick.cursors, everytick.tags, everytick.revisions'),
  )
}

/** The last days, each as a table of its own that gets its indexes when it becomes a partition; today's is there already. */
async function fillHistory(place, { schedules, runs, days: count }) {
  const now = Date.now()
  const today = Math.floor(now / DAY_MS) * DAY_MS
  const firstAt = now - count * DAY_MS
  const days = []
  for (let fromAt = Math.floor(firstAt / DAY_MS) * DAY_MS; fromAt <= today; fromAt += DAY_MS)
    days.push({ fromAt, sinceAt: Math.max(fromAt, firstAt), untilAt: Math.min(fromAt + DAY_MS, now) })
  const all = now - firstAt
  let done = 0
  const parts = days.map((day) => {
    const first = done
    done = Math.round((runs * (day.untilAt - firstAt)) / all)
    return { ...day, first, size: done - first }
  })
  const columns = await place.session((client) => columnsOf(client, 'history'))
  const waiting = [...parts]
  const line = () =>
    place.session(async (client) => {
      await client.query(HASTE)
      for (let part = waiting.shift(); part; part = waiting.shift())
        await fillDay(client, { ...part, columns, schedules, isToday: part.fromAt === today })
    })
  await Promise.all([line(), line()])
  await place.session(async (client) => {
    await client.query(HASTE)
    for (const { fromAt } of parts.filter((part) => part.fromAt !== today)) {
      const [from, to] = [fromAt, fromAt + DAY_MS].map((at) => new Date(at).toISOString())
      await client.query(
        `alter table everytick.history attach partition everytick.${nameOf(fromAt)} for values from ('${from}') to ('${to}')`,
      )
    }
    await client.query('vacuum analyze everytick.history')
  })
}

/** Milliseconds at the end of a stretch in which nothing begins: what began in it ends in it. */
const TAIL_MS = 130_000

async function fillDay(client, { columns, schedules, first, size, fromAt, sinceAt, untilAt, isToday }) {
  const table = isToday ? 'history' : nameOf(fromAt)
  if (!isToday)
    await client.query(
      `create table everytick.${table} (like everytick.history including defaults including constraints)`,
    )
  const lengthMs = Math.max(1, untilAt - sinceAt - TAIL_MS)
  const instant = (ms) => `to_timestamp((${ms}) / 1000.0)`
  const failed = `i % ${FAILED} = 17`
  const values = {
    id: `(lpad(to_hex(at), 12, '0') || '8' || lpad(to_hex(i & 4095), 3, '0') || '8' || lpad(to_hex(i), 15, '0'))::uuid`,
    workspace: workspaceSql('n'),
    job: jobSql('n'),
    queue: queueSql('n'),
    state: `case when ${failed} then case when i % 2000 = 17 then 'cancelled' else 'failed' end else 'succeeded' end`,
    trigger: `'schedule'`,
    priority: '5',
    schedule_id: idSql('n'),
    schedule_key: keySql('n'),
    schedule_revision: '1',
    scheduled_at: instant('at'),
    slot_start_at: 'null',
    due_at: instant('at'),
    created_at: instant('at - 5000'),
    payload: `'null'`,
    policy: literal(JSON.stringify(JOBS[0].policy)),
    attempt: `case when ${failed} then 3 else 1 end`,
    fence: `case when ${failed} then 3 else 1 end`,
    worker_id: `'worker-' || i % 8`,
    lease_until: 'null',
    started_at: instant('at + 2 + i % 60'),
    cancel_requested: 'false',
    idempotency_key: 'null',
    progress: 'null',
    error: `case when ${failed} then '{"name":"Error","message":"the other side did not answer"}'::jsonb end`,
    finished_at: instant('at + 2 + i % 60 + 20 + (i * 104729 % 1000) * (i * 104729 % 1000) / 10'),
    result: `'null'`,
    concurrency_group: 'null',
    overlap: `'skip'`,
  }
  const strange = columns.find((name) => values[name] === undefined)
  if (strange !== undefined) throw new Error(`history has a column ${strange} that the benchmark does not know`)
  await client.query(`
    insert into everytick.${table} (${columns.join()})
    select ${columns.map((name) => values[name]).join()}
    from (
      select i, at, ${scheduleOfRunSql('i', schedules)} as n
      from generate_series(${first}::bigint, ${first + size - 1}::bigint) i
      cross join lateral (select ${sinceAt}::bigint + (i - ${first}) * ${lengthMs}::bigint / ${Math.max(1, size)} as at) t
    ) r`)
  if (!isToday) await client.query(`vacuum (freeze) everytick.${table}`)
}

/** What waits and what is being worked on, by the store's own verbs. */
async function fillLive(store) {
  const app = everytick({ store, jobs: JOBS })
  const count = LIVE.pending + LIVE.running
  for (let i = 0; i < count; i += JOBS.length)
    await Promise.all(
      JOBS.slice(0, count - i).map((job, j) =>
        app.enqueue(job, { workspace: `ws-${String((i + j) % 2000).padStart(4, '0')}` }),
      ),
    )
  const wanted = Array.from({ length: 5 }, (_, i) => ({ queue: `queue-${i}`, limit: LIVE.running / 5 }))
  const queues = Object.fromEntries(wanted.map(({ queue }) => [queue, 10]))
  await store.claims.claim({ workerId: 'worker-0', leaseMs: 6 * HOUR_MS, wanted })
  await store.workers.reportPresence({
    id: 'worker-0',
    host: 'here',
    pid: 1,
    roles: ['worker'],
    queues,
    tzdata: '',
    busy: 50,
  })
}

/** Copies must read as the store's own. */
async function check(store, schedules) {
  for (const n of [0, schedules >> 1, schedules - 1]) {
    const found = await store.schedules.byId(idOf(n))
    const again = found && (await store.schedules.get(found.workspace, found.key))
    if (again?.id !== idOf(n)) throw new Error(`the copied schedule ${n} reads as ${JSON.stringify(found)}`)
  }
  const [run] = (await store.history.latest([idOf(0)], 1)).get(idOf(0)) ?? []
  const whole = run && (await store.history.run(run.id))
  if (whole?.schedule?.id !== idOf(0)) throw new Error(`a copied run reads as ${JSON.stringify(whole)}`)
  const schedule = await store.schedules.byId(idOf(0))
  for (const name of ['workspace', 'job', 'queue'])
    if (whole[name] !== schedule[name]) throw new Error(`a copied run has the ${name} ${whole[name]}`)
}

const literal = (value) => `'${(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll("'", "''")}'`
const nameOf = (at) => `history_${new Date(at).toISOString().slice(0, 10).replaceAll('-', '')}`

const columnsOf = async (client, table) =>
  (
    await client.query(
      `select column_name as name from information_schema.columns
      where table_schema = 'everytick' and table_name = $1 and is_generated = 'NEVER' order by ordinal_position`,
      [table],
    )
  ).rows.map(({ name }) => name)
