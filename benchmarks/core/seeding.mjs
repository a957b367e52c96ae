/** What is copied when a store is filled by SQL, and whether the store reads the copies as its own; the copying is `postgres-seed.mjs` and `sqlite-seed.mjs`. */
import { isDeepStrictEqual } from 'node:util'
import { noop, putOf } from './load.mjs'

/** A prime, so that neighbours by id are not neighbours in time. */
const STRIDE = 7919
export const DAY_MS = 86_400_000

/**
 * Many schedules alike, of which the first is put and the others are copied by SQL: the `i`th is due
 * `(i * stride % count) * spreadMs / count` later. `group` keeps those of several fillings apart.
 */
export function seedling({ count, everyMs, firstAt, spreadMs = everyMs, job = noop, group = 0 }) {
  const keyBegin = `seeded-${group}-`
  // An interval reaches back beyond its anchor; what lies before the first instant is none of ours.
  const first = {
    ...putOf({ key: `${keyBegin}00000000`, everyMs, anchorAt: firstAt, job, now: firstAt }),
    watermarkAt: firstAt - 1,
  }
  const idBegin = `${group.toString(16).padStart(8, '0')}-0000-7000-8000-`
  return { first, count, firstAt, spreadMs, keyBegin, idBegin, stride: STRIDE }
}

/** Reads copies back by the store's own verbs: what it cannot read, or reads otherwise, was not written as it would. */
export async function checkSchedules(store, { first, count, keyBegin, idBegin, stride, firstAt, spreadMs }) {
  for (const i of new Set([1, count >> 1, count - 1])) {
    const key = `${keyBegin}${String(i).padStart(8, '0')}`
    const anchorAt = firstAt + Math.floor((((i * stride) % count) * spreadMs) / count)
    const found = await store.schedules.get('default', key)
    const wanted = { ...first.definition, key, timing: { ...first.definition.timing, anchorAt } }
    const id = `${idBegin}${i.toString(16).padStart(12, '0')}`
    const read = Object.fromEntries(Object.keys(wanted).map((name) => [name, found?.[name]]))
    if (found?.id !== id || !isDeepStrictEqual(read, wanted) || found.nextAt !== anchorAt)
      throw new Error(
        `a copied schedule reads as ${JSON.stringify(found)} instead of ${JSON.stringify({ id, ...wanted })}`,
      )
  }
}

/** Finished runs are copied into so many days before today, like so many full days of work. */
export const HISTORY_DAYS = 10
export const perDay = (count) =>
  Array.from({ length: HISTORY_DAYS }, (_, i) => Math.floor((count + i) / HISTORY_DAYS)).filter((size) => size > 0)

/** The same for finished runs: one of the middle of a day. */
export async function checkHistory(store, { fromAt, size }) {
  const i = Math.ceil(size / 2)
  const at = fromAt + Math.floor((i * DAY_MS) / (size + 1))
  const [time, count] = [at.toString(16).padStart(12, '0'), i.toString(16)]
  const id = `${time.slice(0, 8)}-${time.slice(8)}-7${(i & 4095).toString(16).padStart(3, '0')}-9000-${count.padStart(12, '0')}`
  const found = await store.history.run(id)
  if (found?.state !== 'succeeded' || found.finishedAt !== at || found.job !== noop.name)
    throw new Error(`a copied run, ${id}, reads as ${JSON.stringify(found)}`)
}
