/** One worker process of the tests of limits: serves the queues it is told of until it is killed. */
import { setTimeout as delay } from 'node:timers/promises'
import { defineJob, everytick } from 'everytick'

const { store, queues } = JSON.parse(process.argv[2])
const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const work = defineJob({ name: 'work', run: () => delay(5 + Math.random() * 20) })
const app = everytick({ store, jobs: [work], queues, logger: quiet })
process.on('unhandledRejection', (error) => process.send?.({ kind: 'unhandled', error: String(error) }))
await app.start({ role: 'worker' })
process.send?.({ kind: 'ready' })
