/** What one turn of a contender consists of, the same for all; whose turn it is, and how the turns are summed up, is decided elsewhere. */
import { setTimeout as delay } from 'node:timers/promises'
import { percentile } from '../core/turns.mjs'
import { within } from './talk.mjs'

const WAIT_LIMIT_MS = 120_000
/** Slow contenders get at least so many, and no more where each is waited for. */
const FEW = 100
/** Creating, waiting for the instant, and the slowest of all last starts. */
const BACKLOG_WAIT_MS = 240_000
const POLL_MS = 2
/** A worker that has just started to listen may miss the first hint. */
const SETTLE_MS = 300

const now = () => Number(process.hrtime.bigint()) / 1e6
const perSecond = (count, ms) => (count / ms) * 1000

/** Enqueues in bulk, then drains with one process. */
export async function bulk(entry, { jobs }) {
  const count = share(jobs, entry)
  const ms = await entry.processes[0].ask('enqueueBulk', count)
  return { enqueue: perSecond(count, ms), ...named('drain-1', await drain(entry, entry.processes.slice(0, 1), count)) }
}

/** Enqueues one after the other, each when the one before is on the disk; then clears them away, untimed. */
export async function single(entry, { oneByOne }) {
  if (!entry.offers.single) return {}
  const [process] = entry.processes
  const ms = await process.ask('enqueueSingle', oneByOne)
  await drain(entry, [process], oneByOne)
  return { 'enqueue-single': perSecond(oneByOne, ms) }
}

/** Drains with two processes. */
export async function twice(entry, { jobs }) {
  if (entry.processes.length < 2) return {}
  const count = share(jobs, entry)
  await entry.processes[0].ask('enqueueBulk', count)
  return { 'drain-2': (await drain(entry, entry.processes, count)).rate }
}

/** The same with many more: whoever looks through what others hold or have left behind shows it here. */
export async function backlog(entry, size) {
  // Those who get a small share of the load are slow enough without.
  if (entry.scale !== undefined) return {}
  const { 'drain-2': rate } = await twice(entry, { jobs: size.backlog })
  return rate === undefined ? {} : { 'drain-2-backlog': rate }
}

/** How long a single job waits for an idle worker: from the call that enqueues it to the start of its handler. */
export async function pickUp(entry, { singles }) {
  const [worker] = entry.processes
  // Where there is a server, whoever enqueues is another process than the worker's.
  const producer = entry.processes.at(-1)
  if (!entry.offers.single) return {}
  await worker.ask('watch')
  await delay(SETTLE_MS)
  const waits = []
  const count = entry.scale === undefined ? singles : Math.min(FEW, singles)
  for (let i = 0; i < count; i++) {
    // Not in step with anybody's polling.
    await delay(3 + ((i * 7) % 19))
    const started = new Promise((resolve) => {
      worker.heard.startedAt = resolve
    })
    const at = await producer.ask('enqueueOne')
    waits.push((await within(WAIT_LIMIT_MS, started, 'pick up a job')) - at)
  }
  await worker.ask('rest')
  return { 'pick-up-p50': percentile(waits, 0.5), 'pick-up-p99': percentile(waits, 0.99) }
}

/** Creates schedules of an hour each; none of them comes due to a worker here. */
export async function create(entry, { schedules }, round) {
  if (!entry.offers.schedules) return {}
  const count = share(schedules, { scale: Math.min(entry.scale ?? 1, entry.offers.createScale) })
  const ms = await entry.processes[0].ask('createSchedules', { from: round * count, count })
  return { create: perSecond(count, ms) }
}

/** Lets `count` schedules come due at one instant to one process that plans and works. */
export const backlogOf =
  (count) =>
  async (entry, { backlogMinutes, backlogLeadMs }, round) => {
    const { backlog } = entry.offers
    if (!backlog?.sizes.includes(count) || (backlog.minutes && !backlogMinutes)) return {}
    const asked = { count, round, leadMs: backlogLeadMs }
    const { p99, last } = await entry.processes[0].ask('backlog', asked, BACKLOG_WAIT_MS)
    return { [`backlog-${count}-p99`]: p99, [`backlog-${count}-last`]: last }
  }

/** From the first start to the last end on the disk. */
async function drain({ serverCpuMs }, processes, count) {
  let started = 0
  const all = new Promise((resolve) => {
    for (const { heard } of processes) {
      heard.started = (more) => {
        started += more
        if (started >= count) resolve()
      }
    }
  })
  const serverBefore = serverCpuMs()
  await Promise.all(processes.map((process) => process.ask('work')))
  await within(WAIT_LIMIT_MS, all, `start ${count} jobs`)
  while (await processes[0].ask('left')) await delay(POLL_MS)
  const endedAt = now()
  const serverAfter = serverCpuMs()
  const accounts = (await Promise.all(processes.map((process) => process.ask('account')))).filter(Boolean)
  await Promise.all(processes.map((process) => process.ask('rest')))
  const firstAt = Math.min(...accounts.map((account) => account.firstAt))
  const cpuMs = accounts.reduce((sum, account) => sum + account.cpuMs, 0)
  const each = (ms) => (ms * 1000) / count
  const found = { rate: perSecond(count, endedAt - firstAt), 'cpu-worker': each(cpuMs) }
  if (serverBefore === null) return found
  const serverMs = serverAfter - serverBefore
  return { ...found, 'cpu-server': each(serverMs), cpu: each(cpuMs + serverMs) }
}

const named = (name, { rate, ...rest }) => ({
  [name]: rate,
  ...Object.fromEntries(Object.entries(rest).map(([part, value]) => [`${name}-${part}`, value])),
})

/** Slow contenders get fewer, so that a round does not last for minutes; their rate is their own. */
const share = (count, { scale = 1 }) => Math.max(FEW, Math.round(count * scale))
