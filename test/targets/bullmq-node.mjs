/** A process of its own that feeds a queue of BullMQ: until it is killed, or until one run has ended; told how in a JSON argument. */
import { Queue } from 'bullmq'
import { everytick } from 'everytick'
import { bullmq } from 'everytick/bullmq'

const { store, connection, name, wait, ends } = JSON.parse(process.argv[2])

/** Dies between adding a job and hearing of it. */
function doomed() {
  const queue = new Queue(name, { connection })
  const add = queue.add.bind(queue)
  queue.add = async (...args) => {
    await add(...args)
    process.kill(process.pid, 'SIGKILL')
  }
  return queue
}

const queue = ends === 'after adding' ? doomed() : { name, connection }
const job = bullmq({ name: 'mail', queue, wait })
const app = everytick({ store, jobs: [job], lease: '1s' })
await app.start()
if (ends === 'by itself') {
  const { state } = await app.runs.wait(await app.enqueue(job))
  await app.stop()
  process.exitCode = state === 'succeeded' ? 0 : 1
}
