/** Adds up what processes report and says when there is enough of it; what is counted is the caller's. */

/** Longer than anything that is waited for takes; a measurement that hangs must say so. */
const WAIT_LIMIT_MS = 180_000

/** Each time it is asked for, it counts from zero. */
export function counter(what) {
  let count = 0
  let goal = Number.POSITIVE_INFINITY
  let reached = () => {}
  return {
    add(more) {
      count += more
      if (count >= goal) reached()
    },
    reached(wanted) {
      count = 0
      goal = wanted
      return new Promise((resolve, reject) => {
        const give = () =>
          reject(new Error(`only ${count} of ${wanted} runs were ${what} in ${WAIT_LIMIT_MS / 1000} s`))
        const timer = setTimeout(give, WAIT_LIMIT_MS)
        reached = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    },
  }
}
