/** One process of a measurement: opens a store, plans and works when told to, and says what that took; the parent decides when, and counts. */
import { everytick } from 'everytick'
import { createPlanner } from '../../dist/engine/planner.js'
import { openAt } from './address.mjs'
import { holdJob, noop, tickJob } from './load.mjs'

const { address, role, concurrency, lease } = JSON.parse(process.argv[2])
const store = await openAt(address)
const ticks = []
const tell = (told) => (value) => process.send({ told, value })

/** A run counts when its end is on the disk, not when its handler returned. */
const claims = {
  ...store.claims,
  async settle(settlements, begun) {
    const answers = await store.claims.settle(settlements, begun)
    tell('settled')(answers.filter((answer) => answer === 'accepted').length)
    return answers
  },
}
/** Only what would spoil the measurement. */
const logger = { debug() {}, info() {}, warn() {}, error: console.error }
const app = everytick({
  store: { ...store, claims },
  jobs: [noop, tickJob(ticks), holdJob({ held: tell('held'), again: tell('again') })],
  queues: { default: concurrency },
  logger,
  ...(lease === undefined ? {} : { lease }),
})

const answers = {
  start: () => app.start(role === undefined ? {} : { role }),
  stop: () => app.stop(),
  usage() {
    const { user, system } = process.cpuUsage()
    const { rss } = process.memoryUsage()
    return { cpuMs: (user + system) / 1000, rss, maxRss: process.resourceUsage().maxRSS * 1024 }
  },
  ticks: () => ticks.splice(0),
  /** Plans a share of what is due within `lookaheadMs`, and answers how many runs that made. */
  async plan({ shard, lookaheadMs }) {
    let planned = 0
    const leadership = { leads: async () => true, release: async () => {}, leading: true, shard }
    const onEvent = (fact) => {
      if (fact.kind === 'schedule.planned') planned += fact.runs
    }
    await createPlanner({
      planning: store.planning,
      failovers: store.failovers,
      leadership,
      lookaheadMs,
      onEvent,
    }).pass()
    return planned
  },
}

process.on('message', async ({ n, ask, given }) => process.send({ n, answer: await answers[ask](given) }))
process.on('disconnect', () => process.exit())
process.send({ ready: true })
