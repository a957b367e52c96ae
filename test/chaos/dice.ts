/** Random numbers that a seed repeats, so that a storm that failed can be seen again: `CHAOS_SEED=… npm run chaos`. */
export interface Dice {
  readonly seed: number
  /** In [0, 1). */
  roll(): number
}

export function dice(seed = Number(process.env.CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 31))): Dice {
  let state = seed >>> 0
  return {
    seed,
    // Mulberry32: small, and good enough to choose victims.
    roll() {
      state = (state + 0x6d2b79f5) >>> 0
      let t = Math.imul(state ^ (state >>> 15), 1 | state)
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
      return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
    },
  }
}
