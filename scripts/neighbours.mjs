/** Lets one bound key do its worst beside a workspace with fifty schedules a second, and holds what the victim must keep. `npm run neighbours -- --seconds 300 --store sqlite` */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { loadavg } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { MUST_ACCEPT } from './neighbours/attacks.mjs'
import { ATTACKER, FAILING, SCHEDULES, VICTIM, writeProject } from './neighbours/project.mjs'
import { openDatabase } from './situations/databases.mjs'
import { command, done, service } from './situations/processes.mjs'

const STORES = ['sqlite', 'postgres']
const file = (path) => fileURLToPath(new URL(path, import.meta.url))
/** Until the victim runs as if alone, and then as long to see how late it is so. */
const QUIET_MS = 5000
/** Rules are evaluated every few seconds, and messages sent after that. */
const ALERT_WITHIN_MS = 120_000
/** What began shortly before the end may not have been written down. */
const END_MS = 2000
const MOST_LATE_P99_MS = 250
const MOST_MEMORY_MB = 400
/** However short the attack is meant to be, it goes on until each operation has accepted a request. */
const ATTACKED_WITHIN_MS = 120_000
const IDLE_QUEUE = 'without-worker'

/** Plays it on one store; answers the figures. Without `hasAlerts` no alert is caused: how soon one arrives depends on the machine. */
export async function playNeighbours(store, seconds, { hasAlerts = true } = {}) {
  const loadBefore = loadavg()[0]
  const database = await openDatabase(store, { disk: false })
  const project = writeProject()
  const { folder } = project
  const db = ['--db', database.url]
  const common = ['--config', project.config, ...db, '--port', '0']
  const serve = service('serve', {
    ...{ folder, args: ['serve', ...common, '--private-channels'] },
    started: ({ message, url }) => message === 'server started' && url,
  })
  const worker = service('worker', {
    ...{ folder, args: ['worker', '--plan', ...common, '--drain', '10s'] },
    started: ({ message, probes }) => message === 'planner and worker started' && probes,
  })
  const receiver = await alertReceiver()
  let attacker = null
  try {
    await done(folder, ['migrate', ...db])
    const keyOf = (name, scope, ...more) =>
      done(folder, ['keys', 'create', '--name', name, '--scope', scope, ...more, ...db])
    const fleet = await keyOf('fleet', 'admin')
    const owner = await keyOf('owner', 'admin', '--workspace', ATTACKER)
    const token = await keyOf('attacker', 'operate', '--workspace', ATTACKER)
    await serve.start()
    await worker.start()
    const ask = asker(serve.url())
    await ask(fleet, 'POST', '/channels', { name: 'ops', config: receiver.channel('/fleet') })
    await ask(fleet, 'PUT', '/alert-rules/default-no-worker', { kind: 'no_worker', settings: { for: '5s' } })
    await fillQuotas(ask, owner, receiver)
    await pause(QUIET_MS)
    const aloneFrom = Date.now()
    await pause(QUIET_MS)

    const timings = file('../test/server/hostile-timings.ts')
    attacker = fork(file('neighbours/attacker.mjs'), [JSON.stringify({ url: serve.url(), token, timings })])
    await once(attacker, 'message')
    const attacked = once(attacker, 'message')
    const began = Date.now()
    const untilShare = (share) => pause(Math.max(0, began + seconds * 1000 * share - Date.now()))
    const alerts = []
    const fail = async (body, isIt) => {
      await ask(fleet, 'POST', '/runs', { workspace: VICTIM, ...body })
      alerts.push(receiver.until(isIt, ALERT_WITHIN_MS).then((afterMs) => ({ ...body, afterMs })))
    }
    // While the attack goes on, each of another subject, so that none is open already.
    const jobs = hasAlerts ? FAILING.slice(0, Math.max(1, Math.min(FAILING.length, Math.floor(seconds / 30)))) : []
    for (const [i, job] of jobs.entries()) {
      await untilShare((i + 0.5) / jobs.length)
      await fail({ job }, ({ workspace, values }) => workspace === VICTIM && values.job === job)
      if (i === Math.floor(jobs.length / 2))
        await fail({ job: 'bulk', queue: IDLE_QUEUE }, ({ kind, subject }) => {
          return kind === 'no_worker' && subject === `queue ${IDLE_QUEUE}`
        })
    }
    await untilShare(1)
    await Promise.race([attacked, pause(ATTACKED_WITHIN_MS, null, { ref: false })])
    const waited = await Promise.all(alerts)

    const endedAt = Date.now()
    const memory = { serve: peakMb(serve.pid()), worker: peakMb(worker.pid()) }
    const metrics = await readMetrics([worker.url(), serve.url()], fleet)
    attacker.send('stop')
    const [answers] = await once(attacker, 'message')
    attacker = null
    const exits = await Promise.all([serve, worker].map((each) => each.end('SIGTERM')))
    const audit = await command(folder, ['audit', '--workspace', VICTIM, '--json', ...db])
    const starts = project.starts()
    const of = (from, to) => starts.filter(({ dueAt }) => dueAt >= from && dueAt < to)
    return {
      ...{ store, seconds: Math.round((endedAt - began) / 1000), loadBefore, memory, answers, exits },
      alerts: waited,
      leasesLost: metrics.get('everytick_leases_lost_total') ?? 0,
      audit: { exit: audit.code, said: audit.out || audit.err },
      alone: lateness(of(aloneFrom, began)),
      beside: lateness(of(began, endedAt - END_MS)),
      expected: SCHEDULES * Math.floor((endedAt - END_MS - began) / 1000),
      lines: [...serve.lines, ...worker.lines].filter(({ level }) => level === 'error' || level === 'unreadable'),
    }
  } finally {
    attacker?.kill('SIGKILL')
    await serve.end('SIGKILL')
    await worker.end('SIGKILL')
    await receiver.close()
    await database.close()
    project.remove()
  }
}

/** What of it must not be; nothing where all holds. `isTimed`: also what depends on how busy the machine is. */
export function failures(seen, { isTimed = true } = {}) {
  const { beside, expected, leasesLost, alerts, memory, audit, answers, exits, lines } = seen
  const found = []
  const must = (isKept, text) => isKept || found.push(text)
  if (isTimed)
    must(beside.p99 <= MOST_LATE_P99_MS, `the victim's lateness p99 is ${beside.p99} ms, at most ${MOST_LATE_P99_MS}`)
  must(beside.count >= expected - SCHEDULES, `the victim began ${beside.count} runs of ${expected}`)
  must(leasesLost === 0, `${leasesLost} leases were lost`)
  for (const { job, queue, afterMs } of alerts)
    must(afterMs !== null, `the fleet was not alerted to ${queue ? `queue ${queue}` : `job ${job}`} of the victim`)
  for (const [name, mb] of Object.entries(memory))
    must(mb < MOST_MEMORY_MB, `${name} took ${mb} MB, less than ${MOST_MEMORY_MB}`)
  must(audit.exit === 0, `the ledger of the victim does not add up: ${audit.said}`)
  must(
    exits.every((code) => code === 0),
    `serve and worker ended with ${exits.join(' and ')}`,
  )
  for (const { of, level, message } of lines)
    must(level !== 'unreadable', `${of} wrote a line that is no entry of its log: ${message}`)
  // That the server is not ready for more is an answer, and how long the attacker waits is its own matter.
  const wrong = / (?:5(?!03)\d\d|(?!TIMEOUT$)[A-Z].*)$/
  for (const [what, count] of Object.entries(answers)) must(!wrong.test(what), `${count} times ${what}`)
  for (const name of MUST_ACCEPT)
    must(
      Object.keys(answers).some((what) => new RegExp(`^${name} 2..$`).test(what)),
      `${name} was never accepted`,
    )
  return found
}

/** One request of a fleet that is looked after; throws when it is refused. */
const asker = (url) => async (token, method, path, body) => {
  const answer = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}

/** Rules and channels of the attacker's workspace, as many as it may have; its channels never answer. */
async function fillQuotas(ask, owner, receiver) {
  const kinds = ['run_failed', 'schedule_not_fired', 'lateness_p99', 'failure_rate', 'no_success', 'run_too_long']
  for (let n = 0; n < 50; n++)
    await ask(owner, 'POST', '/channels', { name: `hangs-${n}`, config: receiver.channel('/hang') })
  for (let n = 0; n < 100; n++)
    await ask(owner, 'POST', '/alert-rules', { kind: kinds[n % kinds.length], name: `rule-${n}` })
}

/** Where alerts arrive; it does not answer those of the attacker's channels. */
async function alertReceiver() {
  const alerts = []
  const server = createServer((request, response) => {
    if (request.url === '/hang') return request.resume()
    let body = ''
    request.on('data', (chunk) => (body += chunk))
    request.on('end', () => {
      const { data } = JSON.parse(body)
      alerts.push(...(data.notifications ?? [data]).map(({ alert }) => alert))
      response.end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const secret = `whsec_${Buffer.alloc(32, 'neighbours').toString('base64')}`
  return {
    channel: (path) => ({ kind: 'webhook', secret, url: `http://127.0.0.1:${server.address().port}${path}` }),
    /** Milliseconds until such an alert came; null when none did. */
    async until(isIt, withinMs) {
      const began = Date.now()
      while (Date.now() < began + withinMs) {
        if (alerts.some(isIt)) return Date.now() - began
        await pause(100)
      }
      return null
    },
    async close() {
      const closed = once(server, 'close')
      server.closeAllConnections()
      server.close()
      await closed
    },
  }
}

/** The largest resident size so far. */
const peakMb = (pid) => Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024)

async function readMetrics(urls, token) {
  const sums = new Map()
  for (const url of urls) {
    const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
    if (!answer.ok) throw new Error(`metrics of ${url}: ${answer.status}`)
    for (const [, name, value] of (await answer.text()).matchAll(/^(\w+)(?:\{.*\})? (\S+)$/gm))
      sums.set(name, (sums.get(name) ?? 0) + Number(value))
  }
  return sums
}

function lateness(starts) {
  const sorted = starts.map(({ lateMs }) => lateMs).sort((a, b) => a - b)
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), most: sorted.at(-1) ?? null }
}

async function main() {
  const { values } = parseArgs({
    options: {
      store: { type: 'string' },
      seconds: { type: 'string', default: '300' },
      json: { type: 'boolean', default: false },
    },
  })
  const stores = values.store === undefined ? STORES : [values.store]
  if (!/^[1-9]\d*$/.test(values.seconds) || stores.some((store) => !STORES.includes(store))) {
    console.error('usage: npm run neighbours -- [--seconds 300] [--store sqlite|postgres] [--json]')
    return 2
  }
  // By an exit, so that the processes it started do not outlive the script.
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
  let isKept = true
  for (const store of stores) {
    console.error(`${store}: ${values.seconds} s of attack`)
    const seen = await playNeighbours(store, Number(values.seconds))
    const found = failures(seen)
    isKept &&= found.length === 0
    console.log(values.json ? JSON.stringify({ ...seen, failures: found }, null, 2) : textOf(seen, found))
  }
  return isKept ? 0 : 1
}

function textOf({ store, seconds, loadBefore, alone, beside, expected, leasesLost, alerts, memory, answers }, found) {
  const late = ({ p50, p99, most }) => `p50 ${p50} ms, p99 ${p99} ms, most ${most} ms`
  const counts = Object.entries(answers).map(([what, count]) => `${what}: ${count}`)
  return [
    `${found.length === 0 ? '✓' : '✗'} ${store}, ${seconds} s; load of the machine before: ${loadBefore.toFixed(1)}`,
    `  lateness of the victim: alone ${late(alone)}; beside the attack ${late(beside)}`,
    `  runs of the victim: ${beside.count} of ${expected}; leases lost: ${leasesLost}`,
    `  alerts of the fleet after ${alerts.map(({ afterMs }) => `${afterMs} ms`).join(', ')}`,
    `  memory at most: serve ${memory.serve} MB, worker ${memory.worker} MB`,
    `  answers: ${counts.join(', ')}`,
    ...found.map((each) => `  ✗ ${each}`),
  ].join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = await main()
