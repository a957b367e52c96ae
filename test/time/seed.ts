/** The one seed of a test run: random unless `EVERYTICK_SEED` names it, and printed so that a failure can be repeated. */

const named = process.env.EVERYTICK_SEED
export const namedSeed: number | undefined = named ? Number(named) : undefined
export const SEED: number = namedSeed ?? Math.floor(Math.random() * 2 ** 31)

export function announce(suite: string, seed: number = SEED): void {
  process.stdout.write(`${suite}: EVERYTICK_SEED=${seed} repeats this run\n`)
}

/** A small, quick generator of numbers in [0, 1): good enough to choose characters with. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x9e3779b9) >>> 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
  }
}
