/** Finds the known word nearest to a mistyped one, for hints; the caller decides whether the word is wrong. */

/** The nearest of `known` within an edit distance of a third of its length, or undefined; ignores letter case. */
export function didYouMean(word: string, known: readonly string[]): string | undefined {
  const typed = word.slice(0, 64).toLowerCase()
  let best: string | undefined
  let bestDistance = Number.POSITIVE_INFINITY
  for (const candidate of known) {
    const most = Math.min(bestDistance - 1, Math.max(1, Math.floor(candidate.length / 3)))
    const distance = editDistance(typed, candidate.toLowerCase(), most)
    if (distance < Number.POSITIVE_INFINITY) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Counts insertions, deletions, replacements and swaps of neighbours; infinite above `most`. */
function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return Number.POSITIVE_INFINITY
  // Typed arrays take a tenth of the time; comparing two hundred long keys blocks the event loop.
  let [beforeLast, last, row] = Array.from({ length: 3 }, () => new Uint16Array(b.length + 1)) as [Row, Row, Row]
  for (let j = 0; j <= b.length; j++) last[j] = j
  for (let i = 1; i <= a.length; i++) {
    row[0] = i
    const typed = a.charCodeAt(i - 1)
    for (let j = 1; j <= b.length; j++) {
      const isSame = typed === b.charCodeAt(j - 1)
      let best = Math.min(row[j - 1]! + 1, last[j]! + 1, last[j - 1]! + (isSame ? 0 : 1))
      if (i > 1 && j > 1 && typed === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === b.charCodeAt(j - 1))
        best = Math.min(best, beforeLast[j - 2]! + 1)
      row[j] = best
    }
    ;[beforeLast, last, row] = [last, row, beforeLast]
  }
  return last[b.length]! <= most ? last[b.length]! : Number.POSITIVE_INFINITY
}

type Row = Uint16Array<ArrayBuffer>

/** Words that many field names share, and which therefore do not identify a field. */
const COMMON = new Set(['at', 'is', 'max', 'min', 'of', 'on', 'the', 'to', 'up'])

/** Like `didYouMean`, for names made of words: `cron_expression` is near `cron`, and `timeZone` near `timezone`. */
export function nearestField(name: string, known: readonly string[]): string | undefined {
  const typed = wordsIn(name)
  const joined = typed.join('')
  const near = known.find((each) => each.toLowerCase() === joined) ?? didYouMean(name, known)
  if (near !== undefined) return near
  let best: { readonly field: string; readonly score: number } | undefined
  for (const field of known) {
    const words = wordsIn(field)
    const shared = words.filter((word) => typed.includes(word) && !COMMON.has(word))
    // Between names that share as many words, prefer the shared word nearer to the end of the typed name: it is the noun.
    const place = Math.max(0, ...shared.map((word) => typed.indexOf(word))) / 100
    const score = shared.length / Math.max(words.length, typed.length) + place
    if (shared.length / Math.max(words.length, typed.length) >= 0.5 && score > (best?.score ?? 0))
      best = { field, score }
  }
  return best?.field
}

const wordsIn = (name: string): string[] =>
  name
    .slice(0, 64)
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '')
