/** Declares promises about a store as tests, each on an empty database of its own; what is promised stands in the files beside this. */
import { describe, it } from 'vitest'
import type { Executor } from '../../store/contract/executor.ts'
import type { Store } from '../../store/contract/store.ts'

/** A transaction that stays open until the promise ends it. */
export interface OpenTransaction {
  readonly tx: Executor
  commit(): Promise<void>
  rollback(): Promise<void>
}

/** A store whose every verb happens inside one open transaction on a connection of its own. */
export interface OpenStore {
  readonly store: Store
  commit(): Promise<void>
  rollback(): Promise<void>
  /** Resolves when another connection waits for this transaction; never when none does. */
  waitedFor(): Promise<void>
}

/** A row of live or finished runs, and what to set in it, as SQL. */
export interface Alteration {
  readonly table: 'runs' | 'history'
  readonly id: string
  readonly set: string
}

export interface StoreHarness<S extends Store = Store> {
  /** A store on an empty database. */
  open(): Promise<S>
  /** Closes it and clears away its database. */
  close(store: S): Promise<void>
  /** Moves the clock of this database forward, without sleeping. */
  advance(store: S, ms: number): Promise<void> | void
  /** Another store on the same database, as another process would open it. */
  readonly second?: (store: S) => Promise<Store>
  /** A transaction of the caller's own on the same database, as `{ tx }` takes it. */
  readonly begin?: (store: S) => Promise<OpenTransaction>
  /** Another store on the same database, stopped between its writes and its commit. */
  readonly hold?: (store: S) => Promise<OpenStore>
  /** Changes a run past the store, as a mistaken statement would; for databases that speak SQL. */
  readonly alter?: (store: S, change: Alteration) => Promise<void>
  /** Why one of the above is not there, or why others cannot write beside one that is held; printed with what is not tried. */
  readonly absent?: Partial<Record<Need, string>>
}

/** What a promise needs of the harness; `parallel` is a held store beside which others can write. */
export type Need = 'second' | 'begin' | 'hold' | 'parallel' | 'alter'

/** What a promise is tried on. */
export interface Subject {
  readonly store: Store
  advance(ms: number): Promise<void>
  second(): Promise<Store>
  begin(): Promise<OpenTransaction>
  hold(): Promise<OpenStore>
  alter(change: Alteration): Promise<void>
}

export interface About {
  /** The mistake in a store that this promise would bring to light. */
  readonly kills: string
  readonly needs?: Need
}

export type Declare = (promise: string, about: About, prove: (subject: Subject) => Promise<void>) => void
export type Group = (promise: Declare) => void

/** Longer than any promise takes, and short enough that a store that waits for ever is told from one that is slow. */
const TIMEOUT_MS = 20_000

export function declareGroup<S extends Store>(title: string, group: Group, harness: StoreHarness<S>): void {
  describe(title, () => {
    group((promise, { kills, needs }, prove) => {
      const missing = needs && missingIn(harness, needs)
      if (missing) {
        it.skip(`${promise} (not tried: ${missing})`)
        return
      }
      // `meta` lets a mutation run find the promises that must catch a mutant without executing the others.
      it(promise, { timeout: TIMEOUT_MS, meta: { kills } as object }, async ({ onTestFinished }) => {
        const store = await harness.open()
        const endings: (() => Promise<unknown>)[] = [() => harness.close(store)]
        // Also after a timeout: a transaction left open would stop the promises that follow.
        onTestFinished(async () => {
          for (const end of endings.reverse()) await end()
        })
        await prove(subjectOf(store, harness, endings))
      })
    })
  })
}

function missingIn<S extends Store>(harness: StoreHarness<S>, need: Need): string | undefined {
  const isThere = harness[need === 'parallel' ? 'hold' : need] !== undefined
  return harness.absent?.[need] ?? (isThere ? undefined : `the harness has no ${need}()`)
}

function subjectOf<S extends Store>(store: S, harness: StoreHarness<S>, endings: (() => Promise<unknown>)[]): Subject {
  return {
    store,
    advance: async (ms) => harness.advance(store, ms),
    second: async () => {
      const other = await harness.second!(store)
      endings.push(() => other.close())
      return other
    },
    begin: async () => {
      const open = await harness.begin!(store)
      return { tx: open.tx, ...endedOnce(open, endings) }
    },
    hold: async () => {
      const leased = await harness.hold!(store)
      return { store: leased.store, waitedFor: () => leased.waitedFor(), ...endedOnce(leased, endings) }
    },
    alter: (change) => harness.alter!(store, change),
  }
}

type Ends = Pick<OpenTransaction, 'commit' | 'rollback'>

/** Ends what is open once: by the promise itself, or by a rollback when the promise did not come so far. */
function endedOnce(open: Ends, endings: (() => Promise<unknown>)[]): Ends {
  let ended = false
  const once = (end: () => Promise<void>) => async (): Promise<void> => {
    if (ended) return
    ended = true
    await end()
  }
  const rollback = once(() => open.rollback())
  endings.push(rollback)
  return { commit: once(() => open.commit()), rollback }
}
