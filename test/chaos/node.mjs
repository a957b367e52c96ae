/** One process of the fleet that the chaos tests kill: started with a JSON argument, it serves until it is stopped or killed. */
import { appendFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { defineJob, everytick } from 'everytick'

const { store, role, effects, lease, blockFile } = JSON.parse(process.argv[2])

/** The second witness: a line in a file that the store does not own, written before the result is returned. */
const witness = (ctx) => {
  const { id, attempt, fence, scheduledAt } = ctx.run
  const line = { id, attempt, fence, pid: process.pid, scheduledAt: scheduledAt?.toISOString() ?? null }
  appendFileSync(effects, `${JSON.stringify(line)}\n`)
  return { fence, pid: process.pid }
}

const retry = { attempts: 100, backoff: 'fixed', base: '50ms', max: '200ms' }
const beat = defineJob({
  name: 'beat',
  retry,
  async run(ctx) {
    await delay(Math.random() * 40)
    return witness(ctx)
  },
})
/** Holds on until the file is gone, so that a test can stop the process in the middle of its work. */
const hold = defineJob({
  name: 'hold',
  retry,
  async run(ctx) {
    const { existsSync } = await import('node:fs')
    const answer = witness(ctx)
    while (existsSync(blockFile)) await delay(20)
    return answer
  },
})

const app = everytick({ store, jobs: [beat, hold], queues: { default: 10 }, lease })
process.on('unhandledRejection', (error) => {
  process.send?.({ kind: 'unhandled', error: String(error) })
})
app.on('error', (fact) => process.send?.({ kind: 'error', where: fact.where, error: String(fact.error) }))
app.on('run.refused', (fact) => process.send?.({ kind: 'refused', id: fact.run.id, fence: fact.run.fence }))
await app.start(role === 'both' ? {} : { role })
process.send?.({ kind: 'ready' })
