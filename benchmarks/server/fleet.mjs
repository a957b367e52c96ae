/** The fleet that the server is asked about: whose schedules, which jobs, which timings, and how each is a function of its number; how it gets into a database is `fill.mjs`. */
import { defineJob } from 'everytick'

/** Alike in all but their names: what they do is never measured here. */
export const JOBS = Array.from({ length: 30 }, (_, i) =>
  defineJob({ name: `${['report', 'sync', 'bill', 'mail', 'clean'][i % 5]}-${i}`, queue: `queue-${i % 5}`, run() {} }),
)
export const WORKSPACES = 2000
export const TAGS = ['eu', 'us', 'nightly', 'billing', 'critical']
/** One of so many schedules has a tag, is paused, is read by a cursor that is behind. */
export const SHARES = { tagged: 10, paused: 100, overdue: 5000 }
export const QUARANTINED = 100
/** One of so many runs has failed. */
export const FAILED = 100
/** So many schedules have a twentieth of all runs among them. */
const HOT = 20
const HOT_SHARE = 20

const ZONES = [
  ...['UTC', 'America/New_York', 'America/Chicago', 'America/Denver', 'America/Los_Angeles', 'America/Sao_Paulo'],
  ...['Europe/London', 'Europe/Berlin', 'Europe/Paris', 'Europe/Madrid', 'Europe/Warsaw', 'Europe/Athens'],
  ...['Africa/Cairo', 'Africa/Lagos', 'Asia/Dubai', 'Asia/Kolkata', 'Asia/Singapore', 'Asia/Tokyo'],
  ...['Australia/Sydney', 'Pacific/Auckland'],
]
const minutes = (count) => Array.from({ length: count }, (_, i) => i)
const EXPRESSIONS = [
  ...[5, 10, 15, 20, 30].map((step) => `*/${step} * * * *`),
  ...minutes(60).map((minute) => `${minute} * * * *`),
  ...minutes(60).map((minute) => `${minute} ${(minute * 7) % 24} * * *`),
  ...minutes(25).map((minute) => `${minute * 2} ${6 + (minute % 12)} * * 1-5`),
]
const INTERVALS = ['5m', '15m', '30m', '1h', '6h']

/** One schedule for each timing, to be copied: each expression in each zone, and a quarter as many intervals, whose copies begin anywhere. */
export function templates(workspace) {
  const job = JOBS[0]
  const crons = EXPRESSIONS.flatMap((cron) => ZONES.map((timezone) => ({ cron, timezone })))
  const intervals = Array.from({ length: crons.length >> 2 }, (_, i) => ({ every: INTERVALS[i % INTERVALS.length] }))
  const pad = (i) => String(i).padStart(5, '0')
  return [...crons, ...intervals].map((timing, i) => ({ workspace, key: `template-${pad(i)}`, job, ...timing }))
}

/*
 * SQL over the number `n` of a schedule. A prime spreads neighbours over workspaces; the square makes a few workspaces large
 * (the largest has one schedule in 45) and most small.
 */
const ID_BEGIN = '5c4ed01e-0000-7000-8000-'
export const idSql = (n) => `('${ID_BEGIN}' || lpad(to_hex(${n}), 12, '0'))::uuid`
export const workspaceSql = (n) =>
  `'ws-' || lpad(floor(${WORKSPACES} * (((${n}) * 7919 % 1000003) / 1000003.0::float8) ^ 2)::int::text, 4, '0')`
const JOB_NAMES = `'{${JOBS.map(({ name }) => name).join()}}'::text[]`
const placeSql = (n) => `((${n}) * 31 / 7 % ${JOBS.length})`
export const jobSql = (n) => `(${JOB_NAMES})[${placeSql(n)} + 1]`
export const queueSql = (n) => `'queue-' || ${placeSql(n)} % 5`
/** An interval begins when its schedule was made. */
export const anchorSql = (n) => `(1700000000000 + (${n}) * 104729 % 86400000)`
export const keySql = (n) => `${jobSql(n)} || '-' || lpad((${n})::text, 8, '0')`

/** The number of the schedule that the run of number `i` belongs to. */
export const scheduleOfRunSql = (i, schedules) =>
  `case when ${i} % ${HOT_SHARE} = 0 then ${i} / ${HOT_SHARE} % ${HOT} else ${i} * 7919 % ${schedules} end`

/** The same as `idSql`, for one number. */
export const idOf = (n) => `${ID_BEGIN}${n.toString(16).padStart(12, '0')}`

/** What is asked about. An odd number is never among those whose runs went to a few. */
export const samples = (schedules) => ({
  ...{ job: JOBS[7].name, tag: TAGS[2], often: idOf(HOT >> 1), usual: idOf((schedules >> 1) + 7) },
})
