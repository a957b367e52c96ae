/** Makes the ids of schedules and of runs made by hand: UUIDv7, so that newer ids sort after older ones. */
import { randomUUID } from 'node:crypto'
import type { Clock } from './time/clock.ts'

/** The counter has twelve bits; what does not fit borrows from the milliseconds to come. */
const COUNTER_END = 0x1000

/**
 * Every id of one generator is greater than those before it, also within a millisecond and when the clock is set back.
 * Ids of other generators are kept apart by 62 random bits.
 */
export function uuidGenerator(clock: Clock): () => string {
  let lastMs = 0
  let counter = 0
  return () => {
    const now = Math.floor(clock.now())
    if (now > lastMs) {
      lastMs = now
      counter = 0
    } else if (++counter === COUNTER_END) {
      lastMs++
      counter = 0
    }
    const time = lastMs.toString(16).padStart(12, '0')
    // The runtime's own random ids come from a pool of entropy; theirs is the tail, variant bits included.
    const tail = randomUUID().slice(19)
    return `${time.slice(0, 8)}-${time.slice(8)}-7${counter.toString(16).padStart(3, '0')}-${tail}`
  }
}
