/** Keeps which names (queues or tags) a workspace uses: a name in use costs nothing, a new one is counted among the others. */
import type { Executor } from '../store/contract/executor.ts'

/** After which names may have gone, or come from another process. */
const FRESH_MS = 2000
/** A refusal stands for so long for each name that a count reads, where those are more than a few. */
const REFUSAL_MS = 0.1
const FEW = 200

export interface UsedNames {
  /** Lets the names through, until `end` is called; or answers how many are used. */
  draw(
    names: readonly string[],
    of: { readonly limit: number; readonly tx: Executor | undefined },
  ): Promise<{ readonly end: () => void } | { readonly used: number }>
  readonly isIdle: boolean
}

type ReadNames = (upTo: number, tx?: Executor) => Promise<readonly string[]>

export function createUsedNames(read: ReadNames, elapsed: () => number): UsedNames {
  const inFlight = new Map<string, number>()
  let known: { readonly names: Set<string>; readonly at: number } | null = null
  let reading: Promise<void> | null = null

  const look = async (limit: number, tx?: Executor): Promise<void> => {
    const found = await read(limit + 1, tx)
    known = { names: new Set([...found, ...inFlight.keys()]), at: elapsed() }
  }
  /** One at a time: whoever comes meanwhile takes its answer. */
  const refresh = (limit: number): Promise<void> => {
    reading ??= look(limit).finally(() => {
      reading = null
    })
    return reading
  }
  const unused = (names: ReadonlySet<string>): string[] => [...names].filter((name) => !isKnown(known?.names, name))
  const isWithin = (added: readonly string[], limit: number): boolean =>
    added.length === 0 || (known?.names.size ?? 0) + added.length <= limit

  return {
    async draw(given, { limit, tx }) {
      const names = new Set(given)
      const age = known ? elapsed() - known.at : Number.POSITIVE_INFINITY
      const stands = limit > FEW && age < limit * REFUSAL_MS
      if (age >= FRESH_MS || (!isWithin(unused(names), limit) && !stands)) await (tx ? look(limit, tx) : refresh(limit))
      const added = unused(names)
      if (!isWithin(added, limit)) return { used: known?.names.size ?? 0 }
      for (const name of added) known?.names.add(name)
      for (const name of added) inFlight.set(name, (inFlight.get(name) ?? 0) + 1)
      return {
        end() {
          for (const name of added) {
            const left = inFlight.get(name)! - 1
            if (left === 0) inFlight.delete(name)
            else inFlight.set(name, left)
          }
        },
      }
    },
    get isIdle() {
      return inFlight.size === 0 && reading === null
    },
  }
}

/** A store may know a long name by its first 100 characters. */
const isKnown = (names: ReadonlySet<string> | undefined, name: string): boolean =>
  names !== undefined && (names.has(name) || (name.length > 100 && names.has([...name].slice(0, 100).join(''))))
