/** One `serve` and one `worker --port`, by the built program: what Prometheus finds there is what rules, dashboard and page speak of, with the right figures. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt, root } from '../built-package.ts'
import { runProgram } from '../cli/places.ts'
import { everytick } from '../cli/running.ts'
import { rowsUnder } from '../markdown.ts'
import { createReadyDatabase } from '../postgres/ready-database.ts'
import { relayTo } from '../postgres/relay.ts'

const CONFIG = `
import { defineConfig, defineJob } from 'everytick'
const retry = { attempts: 3, base: '10ms', max: '10ms' }
export default defineConfig({
  jobs: [
    defineJob({ name: 'good', run: () => 'done' }),
    defineJob({ name: 'bad', retry: { attempts: 1 }, run() { throw new Error('always') } }),
    defineJob({ name: 'flaky', retry, run(ctx) { if (ctx.run.attempt === 1) throw new Error('once') } }),
  ],
})
`

const ends: (() => Promise<unknown> | unknown)[] = []
beforeAll(ensureBuilt, 120_000)
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

function projectFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'everytick-pair-'))
  ends.push(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(root, join(folder, 'node_modules', 'everytick'), 'junction')
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'everytick.config.mjs'), CONFIG)
  return folder
}

const PLACES = {
  'one SQLite file': async (folder: string) => `sqlite:${join(folder, 'everytick.db')}`,
  async Postgres() {
    const database = await createReadyDatabase()
    ends.push(() => database.drop())
    return database.url
  },
}

/** Starts a command, and reads from what it prints where it listens. */
async function listening(args: readonly string[], address: RegExp): Promise<string> {
  const program = everytick(args)
  ends.push(async () => {
    program.kill()
    await program.ended
  })
  await program.heard('Ctrl-C stops.')
  return address.exec(program.shown())![1]!
}

interface Pair {
  readonly server: string
  readonly worker: string
  readonly headers: Readonly<Record<string, string>>
}

async function startPair(folder: string, db: string): Promise<Pair> {
  const both = ['--config', join(folder, 'everytick.config.mjs'), '--db', db, '--port', '0']
  expect((await runProgram(['migrate', '--db', db])).code).toBe(0)
  const made = await runProgram(['keys', 'create', '--db', db, '--name', 'ops', '--scope', 'admin'])
  const server = await listening(['serve', ...both], /api\s+(http\S+)\/api\/v1/)
  const worker = await listening(['worker', ...both], /probes\s+(http\S+)\/healthz/)
  const headers = { authorization: `Bearer ${made.out.trim()}`, 'content-type': 'application/json' }
  return { server, worker, headers }
}

type Samples = ReadonlyMap<string, number>

const samplesIn = (text: string): Samples =>
  new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  )
const namesIn = (text: string): string[] => Array.from(text.matchAll(/^# TYPE (\S+) /gm), ([, name]) => name!)
/** As PromQL would add them up. */
const summed = (scraped: readonly Samples[], series: string): number =>
  scraped.reduce((sum, samples) => sum + (samples.get(series) ?? 0), 0)

const PAGE = 'docs/operate/monitoring.md'
const COLUMNS = ['Metric', 'Type', 'Labels', 'Meaning', 'Alert']
/** The names of the metrics in one section of the page. */
function metricsUnder(heading: string): string[] {
  const page = readFileSync(join(root, PAGE), 'utf8')
  const section = page.slice(page.indexOf(`## ${heading}`)).split('\n## ', 1)[0]!
  return rowsUnder(PAGE, COLUMNS)
    .map(([name = '']) => name)
    .filter((name) => section.includes(`\n| \`${name}\` |`))
}
const shipped = ['prometheus-rules.yaml', 'grafana-dashboard.json'].map((name) =>
  readFileSync(join(root, 'deploy', name), 'utf8'),
)

describe.each(Object.keys(PLACES) as (keyof typeof PLACES)[])('a server and a worker on %s', (place) => {
  it('can both be scraped, and tell of each run once', async () => {
    const folder = projectFolder()
    const db = await PLACES[place](folder)
    const { server, worker, headers } = await startPair(folder, db)
    for (const url of [server, worker])
      for (const path of ['/healthz', '/readyz']) expect((await fetch(`${url}${path}`)).status).toBe(200)
    expect((await fetch(`${worker}/api/v1/schedules`)).status).toBe(404)
    expect((await fetch(`${server}/metrics`)).status).toBe(401)

    for (const job of ['good', 'good', 'good', 'bad', 'flaky', 'flaky']) {
      const run = await fetch(`${server}/api/v1/runs`, { method: 'POST', headers, body: JSON.stringify({ job }) })
      expect(run.status).toBe(201)
    }
    const scrape = async (url: string): Promise<string> => (await fetch(`${url}/metrics`, { headers })).text()
    const scrapes = (): Promise<string[]> => Promise.all([server, worker].map(scrape))
    const expected = {
      'everytick_runs_total{job="good",outcome="succeeded"}': 3,
      'everytick_runs_total{job="bad",outcome="failed"}': 1,
      'everytick_runs_total{job="flaky",outcome="succeeded"}': 2,
      'everytick_runs_total{job="flaky",outcome="failed"}': 0,
      'everytick_attempts_total{job="good"}': 3,
      'everytick_attempts_total{job="bad"}': 1,
      'everytick_attempts_total{job="flaky"}': 4,
      'everytick_duration_seconds_count{job="flaky"}': 4,
      'everytick_lateness_seconds_count{queue="default"}': 8,
    }
    const counted = async (): Promise<Record<string, number>> => {
      const samples = (await scrapes()).map(samplesIn)
      return Object.fromEntries(Object.keys(expected).map((series) => [series, summed(samples, series)]))
    }
    await expect.poll(counted, { timeout: 30_000, interval: 200 }).toEqual(expected)

    // What the server looked at a moment ago it shows for five seconds.
    const alive = async (): Promise<number> => samplesIn(await scrape(server)).get('everytick_workers_alive') ?? 0
    await expect.poll(alive, { timeout: 30_000, interval: 500 }).toBe(2)
    const [ofServer, ofWorker] = (await scrapes()) as [string, string]
    expect(summed([samplesIn(ofServer)], 'everytick_runs_total{job="good",outcome="succeeded"}')).toBe(0)
    expect(samplesIn(ofWorker).get('everytick_slots{queue="default"}')).toBe(10)
    expect(samplesIn(ofServer).get('everytick_fleet_runs_total{outcome="succeeded"}')).toBeGreaterThanOrEqual(0)
    for (const text of [ofServer, ofWorker]) expect(samplesIn(text).get('everytick_store_up')).toBe(1)
    if (place === 'Postgres') expect(samplesIn(ofServer).get('everytick_pool_connections{state="waiting"}')).toBe(0)

    const ofProcess = metricsUnder('Figures of the process')
    const ofFleet = metricsUnder('Figures of the fleet')
    expect(namesIn(ofWorker).toSorted()).toEqual(ofProcess.toSorted())
    expect(namesIn(ofServer).toSorted()).toEqual([...ofProcess, ...ofFleet].toSorted())
    const told = new Set(namesIn(ofServer))
    for (const text of shipped)
      for (const [name] of text.matchAll(/\beverytick_\w+/g))
        expect([name, told.has(name.replace(/_(?:bucket|sum|count)$/, ''))]).toEqual([name, true])
  }, 120_000)
})

describe.each(['cut', 'silent'] as const)('a server and a worker whose connections to Postgres are %s', (how) => {
  const look = async (url: string, { headers }: Pair): Promise<readonly [number, string]> => {
    const answer = await fetch(url, { headers })
    return [answer.status, await answer.text()]
  }

  it('live, say that they are not ready, and show what they counted, until it is over', async () => {
    const folder = projectFolder()
    const relay = await relayTo(await PLACES.Postgres())
    ends.push(() => relay.close())
    const pair = await startPair(folder, relay.url)
    const { server, worker, headers } = pair
    await fetch(`${server}/api/v1/runs`, { method: 'POST', headers, body: '{"job":"good"}' })
    const counted = 'everytick_runs_total{job="good",outcome="succeeded"} 1\n'
    await expect.poll(async () => (await look(`${worker}/metrics`, pair))[1], { timeout: 30_000 }).toContain(counted)
    expect((await look(`${server}/metrics`, pair))[1]).toContain('everytick_store_up 1\n')
    relay.turn(how)
    ends.push(() => relay.turn('whole'))
    for (const url of [server, worker]) {
      const away = expect.poll(async () => (await look(`${url}/metrics`, pair))[1], { timeout: 40_000, interval: 500 })
      await away.toContain('everytick_store_up 0\n')
      expect((await look(`${url}/healthz`, pair))[0]).toBe(200)
      const [status, body] = await look(`${url}/readyz`, pair)
      expect([status, JSON.parse(body).code]).toEqual([503, 'UNAVAILABLE'])
    }
    expect((await look(`${worker}/metrics`, pair))[1]).toContain(counted)
    const [status, text] = await look(`${server}/metrics`, pair)
    expect(status).toBe(200)
    expect(text).toContain('everytick_pool_connections{state="used"}')
    relay.turn('whole')
    for (const url of [server, worker])
      await expect.poll(async () => (await look(`${url}/readyz`, pair))[0], { timeout: 60_000 }).toBe(200)
  }, 240_000)
})

describe('a worker with a port', () => {
  it('says which port is taken, and ends; and needs --port for --host', async () => {
    const folder = projectFolder()
    const db = await PLACES['one SQLite file'](folder)
    const both = ['--config', join(folder, 'everytick.config.mjs'), '--db', db]
    const worker = await listening(['worker', ...both, '--port', '0'], /probes\s+(http\S+)\/healthz/)
    const { port } = new URL(worker)
    const second = await runProgram(['worker', ...both, '--port', port])
    expect(second.code).not.toBe(0)
    expect(second.err).toContain(`port ${port} is already in use`)
    const host = await runProgram(['worker', ...both, '--host', '127.0.0.1'])
    expect([host.code, host.err]).toEqual([2, expect.stringContaining('--port')])
  }, 120_000)
})
