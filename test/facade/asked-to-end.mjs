/** A process with a run in flight, which says so and then waits to be asked to end. */
import { setTimeout as delay } from 'node:timers/promises'
import { defineJob, everytick } from 'everytick'

const slow = defineJob({
  name: 'slow',
  async run() {
    process.send?.('in flight')
    await delay(300)
    return 'finished'
  },
})
const app = everytick({ store: `sqlite:${process.argv[2]}`, jobs: [slow] })
await app.start()
await app.enqueue(slow)
