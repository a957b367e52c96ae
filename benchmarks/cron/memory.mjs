/** Run in a process of its own with --expose-gc: what schedules that share 500 expressions add to the heap, in bytes. */
import { parsers } from './contenders.mjs'
import { commonExpressions } from './inputs.mjs'

const [name, count, shape] = process.argv.slice(2)
const parse = parsers[name]
const ZONES = ['UTC', 'America/New_York', 'Europe/Berlin', 'Asia/Tokyo', 'Australia/Sydney']
const expressions = commonExpressions(500)

/** As it comes from a database: a new string each time, never the very object the engine already knows. */
const fresh = (text) => Buffer.from(text).toString()

/** `timing`: only what the engine hands out. `row`: an object per schedule around it, as a program would keep. */
const schedule = (id) => {
  const at = id % expressions.length
  const timing = parse(fresh(expressions[at]), ZONES[at % ZONES.length])
  return shape === 'row' ? { id, timing, nextAt: id * 1000.5 } : timing
}

const used = () => {
  for (let i = 0; i < 3; i++) globalThis.gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

schedule(0)
const before = used()
const kept = new Array(Number(count))
for (let i = 0; i < kept.length; i++) kept[i] = schedule(i)
const bytes = used() - before
process.stdout.write(JSON.stringify({ bytes, count: kept.length }))
