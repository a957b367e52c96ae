/** The hostile neighbour: a process that sends the worst requests of one bound key as fast as it may, and reports what was answered; what the victim must keep is `neighbours.mjs`. */
import { Agent, request as begin } from 'node:http'
import { getPriority, setPriority } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { runnerImport } from 'vite'
import { createAttacks, denseSchedule, MUST_ACCEPT, STREAMS } from './attacks.mjs'

const { url, token, timings } = JSON.parse(process.argv[2])
const { module } = await runnerImport(timings)

// An attacker has a machine of its own: here it takes what the server and the worker leave.
setPriority(Math.min(19, getPriority() + 10))

const AT_ONCE = 24
const OPEN_STREAMS = 60
const TIMEOUT_MS = 30_000
/** A loop stays with an operation for so many requests, so that many of one kind are in flight at once. */
const ROUND = 5
const MOST_KNOWN = 2000
/** What a later request can aim at, by the operations whose answers name it. */
const NAMED_BY = {
  schedule: ['createSchedule', 'putSchedule', 'listSchedules'],
  run: ['enqueueRun', 'triggerSchedule', 'listRuns'],
  backfill: ['createBackfill', 'listAllBackfills'],
  operation: ['createOperation', 'listOperations'],
  alert: ['listAlerts'],
}
/** Of nothing that there is. */
const NO_ID = '00000000-0000-7000-8000-000000000000'

const agent = new Agent({ keepAlive: true })
const answers = new Map()
const ids = new Map(Object.keys(NAMED_BY).map((kind) => [kind, []]))
let isOver = false
let dense = 0

const missing = new Set(MUST_ACCEPT)
function count(name, status) {
  const what = `${name} ${status}`
  answers.set(what, (answers.get(what) ?? 0) + 1)
  if (status < 300 && missing.delete(name) && missing.size === 0) process.send('attacked')
}
const pick = (list) => list[Math.floor(Math.random() * list.length)]
const known = (kind) => pick(ids.get(kind)) ?? NO_ID
const ATTACKS = createAttacks({ known, timings: module })

function send(method, path, body) {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const sent = begin(`${url}/api/v1${path}`, { method, headers, agent, timeout: TIMEOUT_MS }, (response) => {
      const chunks = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () => resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString() }))
      response.on('error', ({ code }) => resolve({ status: code, text: '' }))
    })
    sent.on('timeout', () => sent.destroy(Object.assign(new Error(), { code: 'TIMEOUT' })))
    sent.on('error', ({ code }) => resolve({ status: code, text: '' }))
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

function remember(name, path, { status, text }) {
  if (!(status < 300)) return
  if (name === 'deleteSchedule') return forget('schedule', path.split('/').at(-1))
  const kind = Object.keys(NAMED_BY).find((each) => NAMED_BY[each].includes(name))
  const list = ids.get(kind)
  if (!list || list.length >= MOST_KNOWN) return
  const { id, data } = JSON.parse(text)
  for (const each of data ? data.map((item) => item.id) : [id]) if (each && !list.includes(each)) list.push(each)
}

const forget = (kind, id) =>
  ids.set(
    kind,
    ids.get(kind).filter((each) => each !== id),
  )

async function sendAndCount(name, [method, path, body]) {
  const answer = await send(method, path, body)
  count(name, answer.status)
  remember(name, path, answer)
  if (typeof answer.status === 'string') await pause(50)
  return answer
}

/** Goes through all operations again and again; each loop begins elsewhere. */
async function attackOn(from) {
  const names = Object.keys(ATTACKS)
  for (let n = from; !isOver; n++) {
    const name = names[n % names.length]
    for (let k = 0; k < ROUND && !isOver; k++) await sendAndCount(name, pick(ATTACKS[name])())
  }
}

/** Until the quota of schedules is used up, and again when something was removed. */
async function addDense() {
  while (!isOver) {
    const { status } = await sendAndCount('dense', denseSchedule(`dense-${++dense}`))
    if (status === 409) await pause(1000)
  }
}

/** Opens a stream, never reads it, and opens the next when it ends. */
async function holdStream() {
  while (!isOver) {
    const name = pick(Object.keys(STREAMS))
    const status = await new Promise((resolve) => {
      const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' }
      const sent = begin(`${url}/api/v1${STREAMS[name](known)}`, { headers }, (response) => {
        // What was accepted is not read.
        if (response.statusCode !== 200) response.resume()
        else count(name, 200)
        response.on('close', () => resolve(response.statusCode))
        // One that does not read is disconnected.
        response.on('error', () => resolve(response.statusCode))
      })
      sent.on('error', ({ code }) => resolve(code))
      sent.end()
    })
    if (status !== 200) count(name, status)
    await pause(100)
  }
}

process.on('message', () => {
  isOver = true
  process.send(Object.fromEntries([...answers].sort()), () => process.exit(0))
})
process.on('disconnect', () => process.exit(0))
for (let n = 0; n < AT_ONCE; n++) void attackOn(2 * n)
for (let n = 0; n < 4; n++) void addDense()
for (let n = 0; n < OPEN_STREAMS; n++) void holdStream()
process.send('attacking')
