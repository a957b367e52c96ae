/** Hints that something may be due sooner than expected. A hint may be lost or false; polling is the truth. */

export type Hint =
  /** New pending runs in these queues. */
  | { readonly kind: 'runs'; readonly queues: readonly string[] }
  /** A cursor moved or a schedule appeared. */
  | { readonly kind: 'schedules' }
  /** An operator, or a newer run of the same group, wants running runs to stop. */
  | { readonly kind: 'cancels' }
  /** The connection was away: look at everything once. */
  | { readonly kind: 'all' }

export interface WakeStore {
  /** Calls back until the answered function is called; survives lost connections by itself. */
  listen(onHint: (hint: Hint) => void): Promise<() => Promise<void>>
  /** Whether what other processes say arrives here at present, as far as anybody can tell; absent where that is not known. */
  hears?(): boolean
}
