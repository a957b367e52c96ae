/** The server benchmark: how long a client waits for what people look at, with very much stored, on Postgres; what is asked is `questions.mjs`, what is stored `fleet.mjs`. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { postgresPlaces } from '../core/postgres-place.mjs'
import { createClient, percentile } from './asking.mjs'
import { fill } from './fill.mjs'
import { samples } from './fleet.mjs'
import { FIRST_MS, MOST_MS, questions } from './questions.mjs'

const FULL = { schedules: 1_000_000, runs: 5_000_000, days: 14, requests: 200, warm: 5 }
const QUICK = { schedules: 10_000, runs: 50_000, days: 1, requests: 3, warm: 0 }
const NODE = fileURLToPath(new URL('./node.mjs', import.meta.url))

export async function run({ quick, note, store = 'postgres' }) {
  const size = quick ? QUICK : FULL
  if (store !== 'postgres') throw new Error('the server benchmark is about Postgres')
  const startedAt = performance.now()
  const told = (text) => note(`server ${((performance.now() - startedAt) / 1000).toFixed(0)} s  ${text}`)
  const places = await postgresPlaces({ quick })
  try {
    const place = await places.fresh()
    try {
      told(
        `storing ${size.schedules.toLocaleString('en')} schedules and ${size.runs.toLocaleString('en')} finished runs`,
      )
      const took = await fill(place, size, told)
      const rows = [...(await askedRows(place, size, told)), ...fillRows(took)]
      return {
        rows,
        versions: { everytick: version(), postgres: places.version },
        settings: { ...size, postgres: places.settings },
      }
    } finally {
      await place.drop()
    }
  } finally {
    await places.close()
  }
}

const version = () => JSON.parse(readFileSync(new URL('../../package.json', import.meta.url))).version

async function askedRows(place, { schedules, requests, warm }, told) {
  const server = await startServer(place.address)
  const client = createClient(server.url)
  const rows = []
  try {
    for (const { id, what, path, first } of questions({ now: Date.now(), ...samples(schedules) })) {
      told(path)
      // Whoever comes first waits until it is computed.
      const { ms: firstMs } = await client.ask(path)
      for (let i = 0; i < warm; i++) await client.ask(path)
      const before = { own: await server.cpuMs(), server: place.serverCpuMs() }
      const waits = []
      for (let i = 0; i < requests; i++) waits.push((await client.ask(path)).ms)
      const cpu = { own: (await server.cpuMs()) - before.own, server: place.serverCpuMs() - before.server }
      if (first) rows.push(rowOf({ id: `${id}-first`, what: `${what}, computed`, ours: firstMs, most: FIRST_MS }))
      rows.push({
        ...rowOf({ id: `${id}-p95`, what: `${what}, p95`, ours: percentile(waits, 95), most: MOST_MS }),
        spread: [Math.min(...waits), Math.max(...waits)],
      })
      told(
        `  p50 ${percentile(waits, 50).toFixed(1)} p95 ${percentile(waits, 95).toFixed(1)} ms; first ${firstMs.toFixed(0)} ms; CPU ${(cpu.own / requests).toFixed(1)} + ${(cpu.server / requests).toFixed(1)} ms`,
      )
    }
    return rows
  } finally {
    client.close()
    await server.end()
  }
}

const rowOf = ({ id, what, ours, most, unit = 'ms' }) => ({
  id: `postgres-${id}`,
  what: `${(what.startsWith(' ') ? '' : 'postgres').padEnd(10)}${what}`,
  unit,
  ours,
  rivals: {},
  must: most === undefined ? null : { kind: 'most', value: most },
})

/** Summing up what ended long ago happens once, beside everything else, and so in steps. */
const fillRows = ({ sums, longestRoll }) => [
  rowOf({ id: 'sums', what: 'sums over all that is stored, made again', ours: sums, unit: 's' }),
  rowOf({ id: 'sums-step', what: '  the longest step', ours: longestRoll, unit: 's' }),
]

async function startServer(address) {
  const stdio = ['ignore', 'ignore', 'inherit', 'ipc']
  const child = fork(NODE, [JSON.stringify(address)], { stdio, execArgv: [] })
  const exited = once(child, 'exit')
  const gone = exited.then(([code]) => Promise.reject(new Error(`the server of the benchmark ended with code ${code}`)))
  gone.catch(() => {})
  const heard = async () => (await Promise.race([once(child, 'message'), gone]))[0]
  const { url } = await heard()
  return {
    url,
    async cpuMs() {
      const answer = heard()
      child.send('usage')
      return (await answer).cpuMs
    },
    async end() {
      if (child.connected) child.disconnect()
      await exited
    },
  }
}
