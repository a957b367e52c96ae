/** Generates the ids of schedules and enqueued runs: UUIDv7, so that newer ids sort after older ones. */
import { randomFillSync } from 'node:crypto'
import type { Clock } from './time/clock.ts'

/** The counter has twelve bits; when it overflows, the timestamp advances by a millisecond. */
const COUNTER_END = 0x1000
/** Random tails are generated for this many ids at once: generating them one by one was most of the cost of an id. */
const TAILS = 256
const TAIL_BYTES = 8
/** As text, with the hyphen in it. */
const TAIL_CHARS = 17
const VERSION = 0x7000

/*
 * An id is concatenated from three existing strings. Seven would be as fast to concatenate, but V8 would keep a rope of seven
 * parts for each id, which costs memory and garbage collection in long lists of new runs.
 */
let counters: readonly string[] = []
const writeCounters = (): readonly string[] =>
  Array.from({ length: COUNTER_END }, (_, counter) => `${(VERSION + counter).toString(16)}-`)

/**
 * Every id of one generator is greater than the ids before it, also within a millisecond and when the clock is set back.
 * 62 random bits separate the ids of different generators.
 */
export function uuidGenerator(clock: Clock): () => string {
  const bytes = Buffer.alloc(TAILS * TAIL_BYTES)
  let tails = ''
  let at = 0
  let lastMs = 0
  let time = ''
  let counter = 0

  const refill = (): void => {
    randomFillSync(bytes)
    // The two bits of the UUID variant.
    for (let i = 0; i < bytes.length; i += TAIL_BYTES) bytes[i] = (bytes[i]! & 0x3f) | 0x80
    tails = bytes.toString('hex').replaceAll(/(.{4})(.{12})/g, '$1-$2')
    at = 0
  }

  /** Formats the timestamp once for all ids of a millisecond. */
  const beginAt = (ms: number): void => {
    lastMs = ms
    counter = 0
    const digits = ms.toString(16).padStart(12, '0')
    time = `${digits.slice(0, 8)}-${digits.slice(8)}-`
  }

  if (counters.length === 0) counters = writeCounters()
  beginAt(0)
  return () => {
    const now = Math.floor(clock.now())
    if (now > lastMs) beginAt(now)
    else if (++counter === COUNTER_END) beginAt(lastMs + 1)
    if (at === tails.length) refill()
    const from = at
    at += TAIL_CHARS
    return time + counters[counter]! + tails.slice(from, at)
  }
}
