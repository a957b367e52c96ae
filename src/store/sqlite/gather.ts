/** Makes one write of calls that come while the first of them waits for its turn, and answers each alone; what is written is the caller's. */
import type { Connection } from './connection.ts'
import type { Steps } from './steps.ts'

/** Rows of one such write. A call that has more comes alone. */
const MAX_ROWS = 1000

interface Call<T, A> {
  readonly items: readonly T[]
  readonly resolve: (answers: A[]) => void
  readonly reject: (error: unknown) => void
}

interface Gathering<T, A> {
  readonly calls: Call<T, A>[]
  rows: number
}

/** `write` answers one for each item, in order; `weigh` says how many rows they are worth. A call that it cannot write takes none of the others with it. */
export function gathered<T, A>(
  connection: Connection,
  write: (items: readonly T[]) => Steps<A[]>,
  weigh: (items: readonly T[]) => number = ({ length }) => length,
): (items: readonly T[]) => Promise<A[]> {
  let open: Gathering<T, A> | undefined

  async function writeAll(gathering: Gathering<T, A>): Promise<void> {
    const { calls } = gathering
    const work = (): Steps<A[]> => {
      if (open === gathering) open = undefined
      return write(calls.flatMap(({ items }) => items))
    }
    try {
      const answers = await connection.writeSteps(work, () => gathering.rows)
      let at = 0
      for (const { items, resolve } of calls) resolve(answers.slice(at, (at += items.length)))
    } catch (error) {
      if (open === gathering) open = undefined
      const [first] = calls
      if (calls.length === 1 && first) return first.reject(error)
      for (const call of calls) void writeAll({ calls: [call], rows: weigh(call.items) })
    }
  }

  return (items) =>
    new Promise((resolve, reject) => {
      const call = { items, resolve, reject }
      const rows = weigh(items)
      if (open !== undefined && open.rows + rows <= MAX_ROWS) {
        open.calls.push(call)
        open.rows += rows
        return
      }
      open = { calls: [call], rows }
      void writeAll(open)
    })
}
