/** Writes together what several callers ask for at the same time, and answers each its own; what is written, and what may be written together, is decided by the caller. */

export interface GatherOptions<Item, Answer> {
  /** All of them or none; answers in their order. */
  readonly write: (items: readonly Item[]) => Promise<readonly Answer[]>
  /** Whether after this error nothing of the group was written, and each part may be tried alone. */
  readonly isUnwritten: (error: unknown) => boolean
}

/** Items in one write, and writes in flight at once: enough that one always waits for the disk while another is made. */
const MOST = 1000
const LINES = 3

interface Call<Item, Answer> {
  readonly items: readonly Item[]
  readonly resolve: (answers: Answer[]) => void
  readonly reject: (error: unknown) => void
}

export function createGather<Item, Answer>(
  options: GatherOptions<Item, Answer>,
): (items: readonly Item[]) => Promise<Answer[]> {
  let waiting: Call<Item, Answer>[] = []
  let lines = 0

  const next = (): Call<Item, Answer>[] => {
    let count = 0
    const end = waiting.findIndex(({ items }) => (count += items.length) > MOST)
    const calls = end === -1 ? waiting : waiting.slice(0, Math.max(1, end))
    waiting = waiting.slice(calls.length)
    return calls
  }

  /** What one caller did wrong is not the others' affair. */
  const write = async (calls: readonly Call<Item, Answer>[]): Promise<void> => {
    try {
      const answers = await options.write(calls.flatMap(({ items }) => items))
      let from = 0
      for (const { items, resolve } of calls) resolve(answers.slice(from, (from += items.length)))
    } catch (error) {
      if (calls.length === 1 || !options.isUnwritten(error)) for (const { reject } of calls) reject(error)
      else for (const call of calls) await write([call])
    }
  }

  const line = async (): Promise<void> => {
    lines++
    while (waiting.length > 0) await write(next())
    lines--
  }

  return (items) =>
    new Promise((resolve, reject) => {
      waiting.push({ items, resolve, reject })
      if (lines < LINES) void line()
    })
}
