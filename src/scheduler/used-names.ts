/** Keeps which names (queues or tags) a workspace uses: a name in use costs nothing, a new one is counted among the others. */

/** After which names may have gone, or come from another process. */
const FRESH_MS = 2000
/** A refusal stands for so long for each name that a count reads. */
const REFUSAL_MS = 0.1

export interface UsedNames {
  /** Lets the names through, until `end` is called; or answers how many are used. */
  draw(names: readonly string[], limit: number): Promise<{ readonly end: () => void } | { readonly used: number }>
  readonly isIdle: boolean
}

export function createUsedNames(read: (upTo: number) => Promise<readonly string[]>, elapsed: () => number): UsedNames {
  const inFlight = new Map<string, number>()
  let known: { readonly names: Set<string>; readonly at: number } | null = null
  let reading: Promise<void> | null = null

  const refresh = (limit: number): Promise<void> => {
    reading ??= read(limit + 1)
      .then((found) => {
        known = { names: new Set([...found, ...inFlight.keys()]), at: elapsed() }
      })
      .finally(() => {
        reading = null
      })
    return reading
  }
  const unused = (names: ReadonlySet<string>): string[] => [...names].filter((name) => !isKnown(known?.names, name))
  const isWithin = (added: readonly string[], limit: number): boolean =>
    added.length === 0 || (known?.names.size ?? 0) + added.length <= limit

  return {
    async draw(given, limit) {
      const names = new Set(given)
      const age = known ? elapsed() - known.at : Number.POSITIVE_INFINITY
      const stands = age < limit * REFUSAL_MS
      if (age >= FRESH_MS || (!isWithin(unused(names), limit) && !stands)) await refresh(limit)
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
