/** Caches which names (queues or tags) a workspace uses: a name in use is free, a new one counts towards the quota. */
import type { Executor } from '../store/contract/executor.ts'

/** How long the cached names are valid; other processes may add or remove names. */
const FRESH_MS = 2000
/** With many names, a rejection is cached for this long per name that a count reads. */
const REFUSAL_MS = 0.1
const FEW = 200

export interface UsedNames {
  /** Reserves the names until `end` is called; or returns how many are used when the limit is reached. */
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
  /** One read at a time; concurrent callers share its result. */
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

/** A store may keep only the first 100 characters of a long name. */
const isKnown = (names: ReadonlySet<string> | undefined, name: string): boolean =>
  names !== undefined && (names.has(name) || (name.length > 100 && names.has([...name].slice(0, 100).join(''))))
