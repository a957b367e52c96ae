/** Lets at most so many be at one place at once; the others wait in line, and may leave it. Who needs a seat for what is decided elsewhere. */

export interface Semaphore {
  /** Resolves when there are fewer than `max`; rejects with the reason of the signal. Whoever has a seat gives it back once. */
  take(max: number, signal: AbortSignal): Promise<void>
  give(): void
  readonly isEmpty: boolean
}

/** One in line: how many there may be at most for it to sit down, and how many that came later have gone before it. */
export interface InLine {
  readonly max: number
  readonly overtaken: number
}

/** Whoever asks for a lot of room holds up nobody for less, but lets no more than so many go first. */
export const MAX_OVERTAKEN = 50

/** Who of the line sits down now, by their places in it. */
export function admitNext(line: readonly InLine[], taken: number): readonly number[] {
  const seated: number[] = []
  let mayPass = Number.POSITIVE_INFINITY
  for (const [place, { max, overtaken }] of line.entries()) {
    if (mayPass <= 0) break
    if (taken + seated.length < max) {
      seated.push(place)
      mayPass--
    } else mayPass = Math.min(mayPass, MAX_OVERTAKEN - overtaken)
  }
  return seated
}

/** Those who stay in line, after these have sat down. */
export const leftOf = <T extends InLine>(line: readonly T[], seated: readonly number[]): readonly T[] =>
  line.flatMap((one, place) => {
    if (seated.includes(place)) return []
    const passed = seated.filter((other) => other > place).length
    return [passed === 0 ? one : { ...one, overtaken: one.overtaken + passed }]
  })

interface Waiting extends InLine {
  readonly sit: () => void
}

export function createSemaphore(): Semaphore {
  let taken = 0
  let line: readonly Waiting[] = []

  const callNext = (): void => {
    const seated = admitNext(line, taken)
    if (seated.length === 0) return
    const sitting = seated.map((place) => line[place]!)
    line = leftOf(line, seated)
    taken += seated.length
    for (const { sit } of sitting) sit()
  }

  return {
    async take(max, signal) {
      signal.throwIfAborted()
      await new Promise<void>((resolve, reject) => {
        const leave = (): void => {
          line = line.filter((one) => one.sit !== sit)
          reject(signal.reason)
          // It may have held up those behind.
          callNext()
        }
        const sit = (): void => {
          signal.removeEventListener('abort', leave)
          resolve()
        }
        signal.addEventListener('abort', leave, { once: true })
        line = [...line, { max, overtaken: 0, sit }]
        callNext()
      })
    },
    give() {
      taken--
      callNext()
    },
    get isEmpty() {
      return taken === 0 && line.length === 0
    },
  }
}
