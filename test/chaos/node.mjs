/** One process of the fleet that the chaos tests kill: started with a JSON argument, it serves until it is stopped or killed. */
import crypto from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { setTimeout as delay } from 'node:timers/promises'
import { defineJob, everytick } from 'everytick'

const { store, role, effects, lease, workMs, seed, blockFile, sameClaimIds, planner } = JSON.parse(process.argv[2])
let rolls = 0
/** In [0, 1), and the same again with the same seed. */
const roll = () => crypto.createHash('sha256').update(`${seed} ${rolls++}`).digest().readUInt32BE() / 2 ** 32

if (sameClaimIds) {
  crypto.randomUUID = () => '00000000-0000-4000-8000-000000000000'
  syncBuiltinESMExports()
}

/** The second witness: a line in a file that the store does not own, written before the result is returned. */
const witness = (ctx) => {
  const { id, attempt, fence, scheduledAt } = ctx.run
  const line = { id, attempt, fence, pid: process.pid, scheduledAt: scheduledAt?.toISOString() ?? null }
  appendFileSync(effects, `${JSON.stringify(line)}\n`)
  return { fence, pid: process.pid }
}

const retry = { attempts: 100, backoff: 'fixed', base: '50ms', max: '200ms' }
const reportPresence = defineJob({
  name: 'beat',
  retry,
  async run(ctx) {
    await delay(roll() * workMs)
    return witness(ctx)
  },
})
/** Holds on until the file is gone, so that a test can stop the process in the middle of its work. */
const hold = defineJob({
  name: 'hold',
  retry,
  async run(ctx) {
    const { existsSync } = await import('node:fs')
    const { id, fence } = ctx.run
    ctx.signal.addEventListener('abort', () => process.send?.({ kind: 'aborted', id, fence }))
    const answer = witness(ctx)
    while (existsSync(blockFile) || existsSync(`${blockFile}.${process.pid}`)) await delay(20)
    return answer
  },
})

const once = defineJob({
  name: 'once',
  delivery: 'at_most_once',
  async run(ctx) {
    await delay(15)
    return witness(ctx)
  },
})
const single = defineJob({
  name: 'single',
  retry: { attempts: 1 },
  async run(ctx) {
    await delay(15)
    return witness(ctx)
  },
})

const poison = defineJob({
  name: 'poison',
  retry: { attempts: 2, backoff: 'fixed', base: '50ms', max: '50ms' },
  run() {
    process.kill(process.pid, 'SIGKILL')
  },
})

const app = everytick({
  store,
  jobs: [reportPresence, hold, once, single, poison],
  queues: { default: 10 },
  planner: { mode: planner },
  ...(lease === null ? {} : { lease }),
})
process.on('unhandledRejection', (error) => {
  process.send?.({ kind: 'unhandled', error: String(error) })
})
app.on('error', (fact) => process.send?.({ kind: 'error', where: fact.where, error: String(fact.error) }))
app.on('run.refused', (fact) => process.send?.({ kind: 'refused', id: fact.run.id, fence: fact.run.fence }))
await app.start(role === 'both' ? {} : { role })
process.send?.({ kind: 'ready' })
