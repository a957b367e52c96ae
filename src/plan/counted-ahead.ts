/** Counts the occurrences of a timeline in advance, in small steps, so that later counts are cheap. */
import type { Steps } from '../time/steps.ts'
import type { Timeline } from './definition-periods.ts'

interface Span {
  readonly afterAt: number
  readonly untilAt: number
}

/** The same timeline. Only several dense rules as one are counted ahead; all others are counted at once, however long the span. */
export function* countingAhead(timeline: Timeline, { afterAt, untilAt }: Span): Steps<Timeline> {
  /** Ends of stretches, and how many occurrences lie after `afterAt` and up to there. */
  const ends = [afterAt]
  const sums = [0]
  for (let at = afterAt; at < untilAt; yield) {
    const endAt = timeline.countableUntil(at, untilAt)
    ends.push(endAt)
    sums.push(sums.at(-1)! + timeline.countAt(at, endAt))
    at = endAt
  }
  if (ends.length <= 2) return timeline

  /** The last end at or before `at`. */
  const before = (at: number): number => {
    let [low, high] = [0, ends.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (ends[middle]! <= at) low = middle
      else high = middle - 1
    }
    return low
  }
  const upTo = (at: number): number => {
    const stretch = before(at)
    return sums[stretch]! + timeline.countAt(ends[stretch]!, at)
  }
  return {
    ...timeline,
    countAt: (from, to) =>
      from < afterAt || to > untilAt ? timeline.countAt(from, to) : from < to ? upTo(to) - upTo(from) : 0,
  }
}
