/** How things are measured: rivals in turns within one process, medians over rounds, fresh processes where state would flatter. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** Keeps the optimiser from dropping work whose answer nobody reads. */
const sink = { sum: 0 }

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** Calls per second of `work(count, start)`, which makes `count` calls on inputs from `start` on and returns a number. */
function rate(work, ms, start) {
  const startedAt = performance.now()
  let calls = 0
  let count = 1
  let elapsedMs = 0
  while (elapsedMs < ms) {
    sink.sum += work(count, start + calls)
    calls += count
    elapsedMs = performance.now() - startedAt
    if (count < 16_384 && elapsedMs < ms / 4) count *= 2
  }
  return (calls / elapsedMs) * 1000
}

/**
 * A-B-C, A-B-C, …: a slow moment of the machine then hits all contenders alike. The first round warms up and is dropped.
 * No collection is forced between turns: that slows the rivals more than us, which would flatter the ratios.
 * Answers `{ name: { rate, ratio } }`, medians over the rounds, where `ratio` says how many times faster the first one is.
 */
export function race(contenders, { rounds, roundMs }) {
  const names = Object.keys(contenders)
  const rates = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const name of names) {
      const found = rate(contenders[name], roundMs, round * 1009)
      if (round > 0) rates[name].push(found)
    }
  }
  const first = rates[names[0]]
  return Object.fromEntries(
    names.map((name) => [
      name,
      { rate: median(rates[name]), ratio: median(rates[name].map((value, round) => first[round] / value)) },
    ]),
  )
}

/** Runs a script in a process of its own and answers with the JSON it prints. */
export async function inFreshProcess(script, args = []) {
  const command = ['--expose-gc', fileURLToPath(script), ...args.map(String)]
  const { stdout } = await promisify(execFile)(process.execPath, command, { maxBuffer: 1 << 24 })
  return JSON.parse(stdout)
}

/** Numbers in [0, 1) that are the same in every run (mulberry32, public domain). */
export function randomFrom(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
