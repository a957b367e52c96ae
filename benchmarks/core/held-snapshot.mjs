/**
 * Works while somebody holds an old snapshot, in turns with the same work in a system where nobody does; what the work is, and
 * what is made of its cost, the measurements say. It goes on for some seconds without a pause, so that looks from the very
 * beginning, which are expensive and rare, are in it as often as they come.
 */

/**
 * `open()` gives a side: `turn()` works once and answers what it cost, `pass()` lets all that happen which the snapshot keeps
 * from being cleared away, and `end()`. Answers the costs turn by turn, `{ empty, held }`.
 */
export async function besideHeld(open, { stretchMs, stretchRounds }, note) {
  const sides = []
  let release = async () => {}
  try {
    for (let i = 0; i < 2; i++) sides.push(await open())
    const [empty, held] = sides
    for (const side of sides) await side.turn()
    release = await held.place.holdSnapshot()
    await held.pass()
    note(`work while a snapshot is held, ${stretchRounds} times ${stretchMs / 1000} s, and in an empty system`)
    const seen = { empty: [], held: [] }
    for (let round = 0; round < stretchRounds; round++) {
      await stretch(empty, stretchMs, seen.empty)
      await stretch(held, stretchMs, seen.held)
    }
    return seen
  } finally {
    await release()
    for (const side of sides) await side.end()
  }
}

/** As many turns as begin within so many milliseconds, and one at the least. */
async function stretch(side, ms, into) {
  const startedAt = performance.now()
  do into.push(await side.turn())
  while (performance.now() - startedAt < ms)
}
