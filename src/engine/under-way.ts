/** Counts what is still to be written by this process, so that a stop can wait for it; what it is, only those who begin and end it know. */

export interface UnderWay {
  begin(): void
  end(): void
  /** From now until it ends. */
  track(work: Promise<void>): void
  /** Resolves when there is nothing. */
  none(): Promise<void>
  readonly count: number
}

export function createUnderWay(): UnderWay {
  let count = 0
  let waiting: (() => void)[] = []

  const end = (): void => {
    if (--count > 0 || waiting.length === 0) return
    const told = waiting
    waiting = []
    for (const tell of told) tell()
  }

  return {
    begin() {
      count++
    },
    end,
    track(work) {
      count++
      work.then(end, end)
    },
    async none() {
      // What ends may have begun something else.
      while (count > 0) await new Promise<void>((resolve) => waiting.push(resolve))
    },
    get count() {
      return count
    },
  }
}
