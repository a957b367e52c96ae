/** Lets one bound key do its worst beside a workspace with fifty schedules a second, and holds what the victim must keep. `npm run neighbours -- --seconds 300 --store sqlite` */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { ATTACKER, SCHEDULES, VICTIM, writeProject } from './neighbours/project.mjs'
import { openDatabase } from './situations/databases.mjs'
import { command, done, service } from './situations/processes.mjs'

const STORES = ['sqlite', 'postgres']
const file = (path) => fileURLToPath(new URL(path, import.meta.url))
/** Until the victim runs as if alone. */
const QUIET_MS = 5000
/** Rules are evaluated every few seconds, and messages sent after that. */
const ALERT_WITHIN_MS = 60_000
const MOST_LATE_P99_MS = 250
const MOST_MEMORY_MB = 400

/** Plays it on one store; answers the figures. */
export async function playNeighbours(store, seconds) {
  const database = await openDatabase(store, { disk: false })
  const project = writeProject()
  const db = ['--db', database.url]
  const common = ['--config', project.config, ...db, '--port', '0']
  const { folder } = project
  const serve = service('serve', {
    ...{ folder, args: ['serve', ...common, '--private-channels'] },
    started: ({ message, url }) => message === 'server started' && url,
  })
  const worker = service('worker', {
    ...{ folder, args: ['worker', '--plan', ...common, '--drain', '10s'] },
    started: ({ message, probes }) => message === 'worker started' && probes,
  })
  const receiver = await alertReceiver()
  let attacker = null
  try {
    await done(folder, ['migrate', ...db])
    const admin = await done(folder, ['keys', 'create', '--name', 'fleet', '--scope', 'admin', ...db])
    const bound = ['keys', 'create', '--name', 'attacker', '--scope', 'operate', '--workspace', ATTACKER]
    const token = await done(folder, [...bound, ...db])
    await serve.start()
    await worker.start()
    const overHttp = ['--url', serve.url(), '--token', admin]
    await done(folder, ['channels', 'add', 'ops', '--kind', 'webhook', '--address', receiver.url, ...overHttp])
    await pause(QUIET_MS)
    const aloneUntil = Date.now()

    attacker = fork(file('neighbours/attacker.mjs'), [
      JSON.stringify({ url: serve.url(), token, timings: file('../test/server/hostile-timings.ts') }),
    ])
    await once(attacker, 'message')
    const began = Date.now()
    const fail = async () => {
      await enqueueFailing(serve.url(), admin)
      return { afterMs: await receiver.until(ALERT_WITHIN_MS) }
    }
    // One in the middle: alerts are found and sent while the attack goes on.
    await pause((seconds * 1000) / 2)
    const alert = await fail()
    await pause(Math.max(0, began + seconds * 1000 - Date.now()))

    const memory = { serve: peakMb(serve.pid()), worker: peakMb(worker.pid()) }
    const metrics = await readMetrics([worker.url(), serve.url()], admin)
    const endedAt = Date.now()
    attacker.send('stop')
    const [answers] = await once(attacker, 'message')
    attacker = null
    const exits = await Promise.all([serve, worker].map((each) => each.end('SIGTERM')))
    const audit = await command(folder, ['audit', '--workspace', VICTIM, '--json', ...db])
    const starts = project.starts()
    return {
      ...{ store, seconds: Math.round((endedAt - began) / 1000), memory, answers, exits, alert },
      leasesLost: metrics.get('everytick_leases_lost_total') ?? 0,
      audit: { exit: audit.code, said: audit.out || audit.err },
      alone: lateness(starts.filter(({ dueAt }) => dueAt < aloneUntil)),
      beside: lateness(starts.filter(({ dueAt }) => dueAt >= began && dueAt < endedAt - 2000)),
      expected: SCHEDULES * Math.floor((endedAt - 2000 - began) / 1000),
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
  const { beside, expected, leasesLost, alert, memory, audit, answers } = seen
  const found = []
  const timed = (isKept, text) => isTimed && !isKept && found.push(text)
  const must = (isKept, text) => isKept || found.push(text)
  timed(beside.p99 <= MOST_LATE_P99_MS, `the victim's lateness p99 is ${beside.p99} ms, at most ${MOST_LATE_P99_MS}`)
  must(beside.count >= expected - SCHEDULES, `the victim began ${beside.count} runs of ${expected}`)
  must(leasesLost === 0, `${leasesLost} leases were lost`)
  must(alert.afterMs !== null, 'the alert of the fleet did not arrive')
  for (const [name, mb] of Object.entries(memory))
    must(mb < MOST_MEMORY_MB, `${name} took ${mb} MB, less than ${MOST_MEMORY_MB}`)
  must(audit.exit === 0, `the ledger of the victim does not add up: ${audit.said}`)
  for (const [what, count] of Object.entries(answers)) must(!/ 5(?!03)\d\d$/.test(what), `${count} times ${what}`)
  return found
}

async function enqueueFailing(url, token) {
  const answer = await fetch(`${url}/api/v1/runs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ job: 'fails', workspace: VICTIM }),
  })
  if (answer.status !== 201) throw new Error(`the run that fails: ${answer.status} ${await answer.text()}`)
  return answer.json()
}

/** Where the fleet's alerts arrive. */
async function alertReceiver() {
  const bodies = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += chunk))
    request.on('end', () => {
      bodies.push(body)
      response.end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    /** Milliseconds until a message of the victim's failure came; null when none did. */
    async until(withinMs) {
      const began = Date.now()
      while (Date.now() < began + withinMs) {
        if (bodies.some((body) => body.includes(VICTIM) && body.includes('fails'))) return Date.now() - began
        await pause(100)
      }
      return null
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The largest resident size so far. */
const peakMb = (pid) => Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024)

async function readMetrics(urls, token) {
  const sums = new Map()
  for (const url of urls) {
    const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
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
  if (!/^\d+$/.test(values.seconds) || stores.some((store) => !STORES.includes(store))) {
    console.error('usage: npm run neighbours -- [--seconds 300] [--store sqlite|postgres] [--json]')
    return 2
  }
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
  let isKept = true
  for (const store of stores) {
    if (!values.json) console.error(`${store}: ${values.seconds} s of attack`)
    const seen = await playNeighbours(store, Number(values.seconds))
    const found = failures(seen)
    isKept &&= found.length === 0
    console.log(values.json ? JSON.stringify({ ...seen, failures: found }, null, 2) : textOf(seen, found))
  }
  return isKept ? 0 : 1
}

const textOf = ({ store, seconds, alone, beside, expected, leasesLost, alert, memory, answers }, found) =>
  [
    `${found.length === 0 ? '✓' : '✗'} ${store}, ${seconds} s`,
    `  lateness of the victim: alone p50 ${alone.p50} ms, p99 ${alone.p99} ms; beside the attack p50 ${beside.p50} ms, p99 ${beside.p99} ms, most ${beside.most} ms`,
    `  runs of the victim: ${beside.count} of ${expected}; leases lost: ${leasesLost}; alert after ${alert.afterMs} ms`,
    `  memory at most: serve ${memory.serve} MB, worker ${memory.worker} MB`,
    `  answers: ${Object.entries(answers)
      .map(([what, count]) => `${what}: ${count}`)
      .join(', ')}`,
    ...found.map((each) => `  ✗ ${each}`),
  ].join('\n')

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = await main()
