/** Many rows as one value of one statement, and which of them may share one; what the statement does is each verb's. */
import type { Value } from './driver.ts'

/**
 * Pairs as one JSON object, which `json_each` takes apart again. A statement for many rows costs a third of as many
 * statements; but every value that has to be picked out of a list costs as much as an index, so there are few of them.
 */
export function pairsText(pairs: Iterable<readonly [string | number, Value | readonly Value[]]>): string {
  let text = ''
  for (const [key, value] of pairs) {
    const name = typeof key === 'number' ? `"${key}"` : JSON.stringify(key)
    text += `${text === '' ? '{' : ','}${name}:${typeof value === 'number' ? value : JSON.stringify(value)}`
  }
  return text === '' ? '{}' : `${text}}`
}

/** Characters of one such text: one that holds many large payloads could be longer than a string can be. */
const MAX_TEXT = 1_000_000
/** Rows of one statement, which nothing can interrupt: a few milliseconds of it. */
const MAX_ROWS = 300

/** Stretches in order, each as long as neighbours are alike and not too many, and their texts not too long together. */
export function* stretchesOf<T>(
  items: readonly T[],
  { uniform = () => true, lengthOf }: { uniform?: (a: T, b: T) => boolean; lengthOf: (item: T) => number },
): Generator<T[]> {
  let [stretch, length]: [T[], number] = [[], 0]
  for (const item of items) {
    length += lengthOf(item)
    const [first] = stretch
    if (first !== undefined && (length > MAX_TEXT || stretch.length === MAX_ROWS || !uniform(first, item))) {
      yield stretch
      stretch = []
      length = lengthOf(item)
    }
    stretch.push(item)
  }
  if (stretch.length > 0) yield stretch
}

/** Parts in order and not too long, in each of which no name occurs twice: what one row does to another shows only in the next part. */
export function* wavesOf<T>(items: readonly T[], namesOf: (item: T) => readonly string[]): Generator<T[]> {
  let wave: T[] = []
  const seen = new Set<string>()
  for (const item of items) {
    const names = namesOf(item)
    if (wave.length === MAX_ROWS || names.some((name) => seen.has(name))) {
      yield wave
      wave = []
      seen.clear()
    }
    for (const name of names) seen.add(name)
    wave.push(item)
  }
  if (wave.length > 0) yield wave
}
