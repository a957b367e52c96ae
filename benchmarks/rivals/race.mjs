/** Who takes a turn when, and what the turns say together; nothing here knows what is measured. */
import { median } from '../harness.mjs'

/**
 * A-B-C, A-B-C, …: a slow moment of the machine then hits all alike. The first round warms up and is dropped. A turn
 * answers numbers by name; a contender that fails is told to `onFailure` and has no more turns.
 * Answers `{ contender: { name: [number of each round] } }`.
 */
export async function race({ entries, rounds, turn, onFailure }) {
  const seen = Object.fromEntries(entries.map(({ name }) => [name, {}]))
  const failed = new Set()
  for (let round = 0; round <= rounds; round++) {
    for (const entry of entries) {
      if (failed.has(entry.name)) continue
      try {
        const found = await turn(entry, round)
        if (round > 0) for (const [what, value] of Object.entries(found)) (seen[entry.name][what] ??= []).push(value)
      } catch (error) {
        failed.add(entry.name)
        seen[entry.name] = {}
        await onFailure(entry, error)
      }
    }
  }
  return seen
}

/** Median and spread over the rounds. */
export const summary = (values) => ({
  value: median(values),
  spread: [Math.min(...values), Math.max(...values)],
  rounds: values,
})

/** How many times better the first is than the second, round by round, since rounds lie close together in time. */
export function timesBetter(ours, theirs, better) {
  const ratio = (a, b) => (better === 'more' ? a / b : b / a)
  return median(ours.map((value, round) => ratio(value, theirs[round])))
}

/** The name of the rival to beat; the limit is none. */
export function bestOf(rivals) {
  const names = Object.keys(rivals).filter((name) => name !== 'limit')
  return names.reduce((best, name) => (best === null || rivals[name].ratio < rivals[best].ratio ? name : best), null)
}
