/** Finds the known word nearest to a mistyped one, for hints only; whether the word was wrong is decided by the caller. */

/** The nearest of `known` within a third of its length, or undefined; letter case does not count as a difference. */
export function didYouMean(word: string, known: readonly string[]): string | undefined {
  const typed = word.slice(0, 64).toLowerCase()
  let best: string | undefined
  let bestDistance = Number.POSITIVE_INFINITY
  for (const candidate of known) {
    const distance = editDistance(typed, candidate.toLowerCase())
    if (distance < bestDistance && distance <= Math.max(1, Math.floor(candidate.length / 3))) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Insertions, deletions, replacements and swaps of neighbours. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      let best = Math.min(row[j - 1]! + 1, last[j]! + 1, last[j - 1]! + cost)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, beforeLast[j - 2]! + 1)
      row.push(best)
    }
    beforeLast = last
    last = row
  }
  return last[b.length]!
}
