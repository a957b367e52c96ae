/** One `serve` and one `worker` on a database, and all that can be seen of them from outside; what they go through is `acts.mjs`, what it means `judge.mjs`. */
import { setTimeout as pause } from 'node:timers/promises'
import { openDatabase } from './databases.mjs'
import { command, done, service } from './processes.mjs'
import { writeProject } from './project.mjs'

const SCRAPE_MS = 2000
/** Until both processes run. */
const FAIL_IN_MS = 45_000
/** As Prometheus gives up on a target. */
const SCRAPE_TIMEOUT_MS = 8000
const PHASES = ['before', 'during', 'after']

/** `rules`: what is set about rules before anything begins, as arguments of `alert-rules set`. */
export async function openPair(store, { rules, disk = false, failsAtOnce = false }) {
  const database = await openDatabase(store, { disk })
  const failAt = failsAtOnce ? new Date(Date.now() + FAIL_IN_MS).toISOString() : null
  const project = writeProject({ failAt, isBulky: disk })
  const { folder, config } = project
  const db = ['--db', database.url]
  const common = ['--config', config, ...db, '--port', '0']
  const serve = service('serve', {
    ...{ folder, args: ['serve', ...common] },
    started: ({ message, url }) => message === 'server started' && url,
  })
  const worker = service('worker', {
    ...{ folder, args: ['worker', ...common, '--drain', '5s'] },
    started: ({ message, probes }) => message === 'worker started' && probes,
  })
  let phase = PHASES[0]
  let isOver = false
  const samples = []
  const marks = {}
  const doctor = {}
  const exits = []

  await done(folder, ['migrate', ...db])
  const key = await done(folder, ['keys', 'create', '--name', 'situations', '--scope', 'admin', ...db])
  const headers = { authorization: `Bearer ${key}` }

  /** As Prometheus does: what cannot be scraped has `up 0` and nothing else. */
  const scrape = async ({ name, url }) => {
    const began = phase
    const series = new Map([['up', 0]])
    try {
      const signal = AbortSignal.timeout(SCRAPE_TIMEOUT_MS)
      const response = await fetch(`${url()}/metrics`, { headers, signal })
      for (const [, label, value] of (await response.text()).matchAll(/^([^#\s]\S*(?:\{.*\})?) (\S+)$/gm))
        series.set(label, Number(value))
      if (response.ok) series.set('up', 1)
    } catch {
      // It is down, or hangs.
    }
    // What was asked before and answered after a change of phase says nothing of either.
    if (began === phase) samples.push({ phase, of: name, at: Date.now(), series })
  }
  const scrapeAll = async (each) => {
    while (!isOver) {
      await scrape(each)
      await pause(SCRAPE_MS)
    }
  }

  /** Of the server, which answers at once; null while it does not. */
  const servedAlerts = async () => {
    try {
      const response = await fetch(`${serve.url()}/api/v1/alerts?limit=200`, {
        headers,
        signal: AbortSignal.timeout(5000),
      })
      return response.ok ? (await response.json()).data : null
    } catch {
      return null
    }
  }

  return {
    ...{ project, database, serve, worker, samples },
    run: (...args) => done(folder, [...args, ...db]),
    async start() {
      await done(folder, ['channels', 'add', 'log', '--kind', 'log', ...db])
      for (const [id, ...args] of rules) await done(folder, ['alert-rules', 'set', `default-${id}`, ...args, ...db])
      await serve.start()
      await worker.start()
      this.scraping = [serve, worker].map(scrapeAll)
    },
    /** Each phase begins when what makes it begin has been done. */
    enter(next) {
      phase = next
      marks[next] = Date.now()
    },
    /** What doctor says now, kept for this phase. */
    async diagnose() {
      const { code, out, err } = await command(folder, ['doctor', '--json', ...db])
      const text = out || err.trim().split('\n').at(-1)
      let said
      try {
        said = JSON.parse(text)
      } catch {
        said = { message: text }
      }
      doctor[phase] = {
        exit: code,
        code: said.code ?? null,
        message: said.message ?? null,
        findings: said.findings ?? [],
      }
    },
    /** Polls until `isThere` of all alerts; a while without it is for the judge to say. */
    async untilAlerts(isThere, withinMs) {
      const until = Date.now() + withinMs
      while (Date.now() < until) {
        const found = await servedAlerts()
        if (found && isThere(found)) return
        await pause(2000)
      }
    },
    /** Until both have been scraped in this phase, so that its last sample is of its end. */
    async untilScraped() {
      const since = Date.now()
      const isSeen = (name) =>
        samples.some(({ of, at, series }) => of === name && at > since + 1000 && series.has('up'))
      while (!(isSeen('serve') && isSeen('worker')) && Date.now() < since + 30_000) await pause(500)
    },
    /** Ends both in order, and keeps how they ended. */
    async stop() {
      exits.push(...(await Promise.all([serve, worker].map((each) => each.end('SIGTERM')))))
    },
    async observe() {
      const alerts = JSON.parse(await done(folder, ['alerts', 'ls', '--state', 'any', '--all', '--json', ...db]))
      const audit = await command(folder, ['audit', '--json', ...db])
      const lines = [...serve.lines, ...worker.lines]
      return { alerts, doctor, samples, lines, marks, exits, audit: { exit: audit.code, said: audit.out || audit.err } }
    },
    async close() {
      isOver = true
      for (const each of [worker, serve]) {
        try {
          each.signal('SIGCONT')
        } catch {
          // It never began, or has ended.
        }
        await each.end('SIGKILL')
      }
      await Promise.all(this.scraping ?? [])
      await database.close()
      project.remove()
    },
  }
}
