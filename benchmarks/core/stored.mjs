/** Places with many schedules stored, each made once and used by every measurement that asks for that many; what is done with them is the measurements' own. */
import { DAY_MS } from './seeding.mjs'

/** In a store of any size so many are due in each second, from a day on: until then it is idle. */
export const DUE_PER_SECOND = 100

/** A fresh place of `count` schedules, `{ place, firstAt, count }`. */
export async function storedPlace(places, count) {
  const place = await places.fresh()
  const firstAt = Math.ceil(Date.now() / 1000) * 1000 + DAY_MS
  await place.seed({ count, everyMs: (count / DUE_PER_SECOND) * 1000, firstAt })
  return { place, firstAt, count }
}

/** Answers `stored(count)`, which gives the same place each time, and `dropStored()`. */
export function createStored(places, note) {
  const made = new Map()
  return {
    stored(count) {
      if (!made.has(count)) {
        note(`storing ${count.toLocaleString('en')} schedules`)
        made.set(count, storedPlace(places, count))
      }
      return made.get(count)
    },
    async dropStored() {
      const all = await Promise.allSettled(made.values())
      made.clear()
      for (const { value } of all) await value?.place.drop()
    },
  }
}
