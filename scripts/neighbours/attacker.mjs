/** The hostile neighbour: a process that sends the worst requests of one bound key as fast as it may, and reports what was answered; what the victim must keep is `neighbours.mjs`. */
import { Agent, request as begin } from 'node:http'
import { setPriority } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { runnerImport } from 'vite'

const { url, token, timings } = JSON.parse(process.argv[2])
const { module } = await runnerImport(timings)
const { ALMOST_NOTHING, HOSTILE } = module

// An attacker has a machine of its own: here it takes what the server and the worker leave.
setPriority(10)

const AT_ONCE = 24
const STREAMS = 60
const TIMEOUT_MS = 30_000
const KINDS = Object.keys(HOSTILE)
/** Near the largest payload that is accepted, and as expensive to write as text can be. */
const PAYLOAD = { text: '"\\'.repeat(60_000) }

const agent = new Agent({ keepAlive: true })
const answers = new Map()
let number = 0
let isOver = false
const schedules = []
const runs = []

const count = (name, status) => answers.set(`${name} ${status}`, (answers.get(`${name} ${status}`) ?? 0) + 1)
const pick = (list) => list[Math.floor(Math.random() * list.length)]
const timing = () => HOSTILE[pick(KINDS)](number)
const day = (days) => new Date(Date.now() + days * 86_400_000).toISOString()
const schedule = () => `/schedules/${pick(schedules) ?? 'none'}`
const fresh = () => `${++number}-${process.pid}`

/** Each answers a method, a path and a body. */
const ATTACKS = {
  explain: () => ['POST', '/explain', { ...(number % 2 ? ALMOST_NOTHING : timing()), n: 100, jitter: '50%' }],
  create: () => ['POST', '/schedules', { key: fresh(), job: 'bulk', payload: PAYLOAD, tags: [fresh()], ...timing() }],
  dense: () => [
    'POST',
    '/schedules',
    { key: fresh(), job: 'bulk', queue: `q-${fresh()}`, every: '1s', payload: PAYLOAD },
  ],
  next: () => ['GET', `${schedule()}/next?n=200`],
  why: () => ['GET', `${schedule()}/why?at=${day(400)}`],
  list: () => ['GET', '/schedules?limit=200&last=10'],
  preview: () => [
    'POST',
    '/rehearse',
    { schedules: Array.from({ length: 20 }, (_, i) => ({ key: `${i}-${fresh()}`, job: 'bulk', ...timing() })) },
  ],
  simulate: () => ['POST', '/simulate', { ...timing(), to: day(1000), durations: '90s', catchUp: 'all' }],
  forecast: () => ['GET', `/forecast?bucket=1m&from=${day(1)}&to=${day(2)}`],
  spikes: () => ['GET', '/forecast/herds'],
  clock: () => ['GET', '/forecast/clock-changes'],
  ledger: () => ['GET', '/ledger'],
  backfill: () => ['POST', `${schedule()}/backfills`, { from: day(-20_000), to: day(-1) }],
  trigger: () => ['POST', `${schedule()}/trigger`, { payload: PAYLOAD, overlap: 'allow' }],
  enqueue: () => ['POST', '/runs', { job: 'bulk', payload: PAYLOAD }],
  queue: () => ['POST', '/runs', { job: 'bulk', queue: `q-${fresh()}`, payload: PAYLOAD }],
  failing: () => ['POST', '/runs', { job: 'fails' }],
  runs: () => ['GET', '/runs?limit=200&include=payload,result'],
  bulk: () => ['POST', '/operations', { action: 'trigger', filter: { job: 'bulk' } }],
  rule: () => ['POST', '/alert-rules', { kind: 'run_failed', name: fresh() }],
  overview: () => ['GET', '/overview'],
  large: () => ['POST', '/runs', { junk: 'x'.repeat(1_000_000) }],
}

function send(method, path, body) {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const sent = begin(`${url}/api/v1${path}`, { method, headers, agent, timeout: TIMEOUT_MS }, (response) => {
      const chunks = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () => resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString() }))
      response.on('error', () => resolve({ status: 'cut', text: '' }))
    })
    sent.on('timeout', () => sent.destroy())
    sent.on('error', () => resolve({ status: 'cut', text: '' }))
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

/** What a later attack can aim at. */
function remember(path, { status, text }) {
  if (status !== 201 && status !== 202) return
  const { id } = JSON.parse(text)
  const known = path === '/schedules' ? schedules : path === '/runs' ? runs : null
  if (known && known.length < 2000) known.push(id)
}

async function attackOn() {
  while (!isOver) {
    const name = pick(Object.keys(ATTACKS))
    const [method, path, body] = ATTACKS[name]()
    const answer = await send(method, path, body)
    count(name, answer.status)
    remember(path, answer)
    if (answer.status === 'cut') await pause(50)
  }
}

/** Opens a stream, never reads it, and opens the next when it ends. */
async function holdStream() {
  while (!isOver) {
    const status = await new Promise((resolve) => {
      const path = Math.random() < 0.5 || runs.length === 0 ? '/events' : `/runs/${pick(runs)}/logs?follow=true`
      const sent = begin(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${token}` } }, (response) => {
        if (response.statusCode !== 200) response.resume()
        response.on('close', () => resolve(response.statusCode))
        response.on('error', () => resolve('cut'))
        response.on('end', () => resolve(response.statusCode))
      })
      sent.on('error', () => resolve('cut'))
      sent.end()
    })
    count('stream', status)
    await pause(100)
  }
}

process.on('message', () => {
  isOver = true
  process.send(Object.fromEntries([...answers].sort()), () => process.exit(0))
})
process.on('disconnect', () => process.exit(0))
for (let n = 0; n < AT_ONCE; n++) void attackOn()
for (let n = 0; n < STREAMS; n++) void holdStream()
process.send('attacking')
