/** How asynchronous work is timed: contenders in turns, so that a slow moment of the machine hits all alike; what each does is its own matter. */
import { median } from '../harness.mjs'

/** Work done per second. */
export async function perSecond(count, work) {
  const startedAt = performance.now()
  await work()
  return (count / (performance.now() - startedAt)) * 1000
}

/**
 * A-B, A-B, …, where a contender answers what it measured in its turn: a number, or several by name. The first round warms
 * up and is dropped. Answers, for each name, the medians over the rounds and `ratio`, ours as a share of the limit's.
 */
export async function turns({ ours, limit }, rounds) {
  const seen = { ours: [], limit: [] }
  for (let round = 0; round <= rounds; round++) {
    const turn = { ours: named(await ours(round)), limit: named(await limit(round)) }
    if (round === 0) continue
    seen.ours.push(turn.ours)
    seen.limit.push(turn.limit)
  }
  const middle = (turns, name) => median(turns.map((turn) => turn[name]))
  return Object.fromEntries(
    Object.keys(seen.ours[0]).map((name) => {
      const found = { ours: middle(seen.ours, name) }
      if (!(name in seen.limit[0])) return [name, found]
      const ratio = median(seen.ours.map((turn, round) => turn[name] / seen.limit[round][name]))
      return [name, { ...found, limit: middle(seen.limit, name), ratio }]
    }),
  )
}

const named = (found) => (typeof found === 'number' ? { rate: found } : found)

/** Calls `work(size)` for `total` in groups of `group`, `inFlight` of them at once. */
export async function inGroups({ total, group, inFlight }, work) {
  let left = total
  const line = async () => {
    while (left > 0) {
      const size = Math.min(group, left)
      left -= size
      await work(size)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, line))
}

/** The value below which this share of all lies. */
export function percentile(values, share) {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

/** A row of the report out of what `turns` found. */
export function rateRow(about, { ours, limit, ratio }) {
  const rivals = limit === undefined ? {} : { limit: { value: limit, ratio } }
  return { unit: '/s', ...about, ours, rivals }
}
