/** A worker some of whose handlers throw where no code catches it; started with a JSON argument, it works until that ends it. */
import { appendFileSync, existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { defineJob, everytick } from 'everytick'

const { store, effects, block, listener } = JSON.parse(process.argv[2])
const witness = (what, { run }) => appendFileSync(effects, `${what} ${run.id}\n`)
const never = new Promise(() => {})
const retry = { attempts: 3, backoff: 'fixed', base: '20ms', max: '20ms' }

/** Does not end while the file is there, whatever its signal says. */
async function hold(ctx) {
  ctx.signal.addEventListener('abort', () => witness(`aborted by ${ctx.signal.reason.code}`, ctx))
  witness('begun', ctx)
  while (existsSync(block)) await delay(20)
}
const jobs = [
  defineJob({ name: 'hold', retry, run: hold }),
  defineJob({ name: 'once', delivery: 'at_most_once', run: hold }),
  defineJob({
    name: 'timer',
    retry,
    run() {
      setTimeout(() => {
        throw new Error('no code catches this')
      }, 5)
      return never
    },
  }),
  defineJob({
    name: 'promise',
    retry,
    async run() {
      const forgotten = async () => {
        await delay(5)
        throw new Error('no code catches this')
      }
      void forgotten()
      await never
    },
  }),
]
const app = everytick({ store, jobs, queues: { default: 12 }, lease: '10m' })
// Outside of every run.
process.on('message', () => {
  throw new Error('no code catches this')
})
if (listener === 'survives') process.on('uncaughtException', () => process.send('caught'))
if (listener === 'stops') process.on('uncaughtException', (error) => app.stop({ error }).finally(() => process.exit(3)))
await app.start({ role: 'worker' })
