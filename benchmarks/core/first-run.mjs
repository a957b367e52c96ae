/** A process as a user writes it: opens a store, starts, and says when its first run has started; then it stops. */
import { defineJob, everytick } from 'everytick'
import { openAt } from './address.mjs'

const store = await openAt(JSON.parse(process.argv[2]))
let tell = () => {}
const started = new Promise((resolve) => {
  tell = resolve
})
const noop = defineJob({ name: 'noop', run: () => tell() })
const logger = { debug() {}, info() {}, warn() {}, error: console.error }
const app = everytick({ store, jobs: [noop], logger })
await app.start()
await started
process.send({ started: true })
await app.stop()
await store.close()
process.disconnect()
