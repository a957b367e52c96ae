/** The process that plans and calls: an app with one HTTP job, signed as in use. */
import { everytick, http } from 'everytick'
import { openAt } from '../core/address.mjs'

const { address, url, concurrency } = JSON.parse(process.argv[2])
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const job = http({ name: 'tick', url, secret, allowPrivate: true, maxPerHost: concurrency })
/** Only what would spoil the measurement. */
const logger = { debug() {}, info() {}, warn() {}, error: console.error }
const app = everytick({ store: await openAt(address), jobs: [job], queues: { default: concurrency }, logger })
const begun = { cpu: process.cpuUsage(), at: performance.now() }

const answers = {
  async start() {
    await app.start()
    Object.assign(begun, { cpu: process.cpuUsage(), at: performance.now() })
  },
  usage() {
    const { user, system } = process.cpuUsage(begun.cpu)
    return { cpuMs: (user + system) / 1000, forMs: performance.now() - begun.at }
  },
  stop: () => app.stop(),
}

process.on('message', async (asked) => process.send((await answers[asked]()) ?? {}))
process.on('disconnect', () => process.exit())
const { name, queue, priority, policy } = job
process.send({ job: { name, queue, priority, policy } })
