/** Leases on background tasks that one node at a time should do; correctness never rests on them, only economy. */

export interface Lock {
  readonly name: string
  readonly holder: string
  /** Grows whenever the lock changes hands. */
  readonly fence: number
  readonly until: number
}

export interface LockStore {
  /** Takes a free or ended lease, or renews the holder's own, in one conditional write; null when another holds it. */
  acquire(name: string, holder: string, leaseMs: number): Promise<Lock | null>
  /** Gives it up, if this holder still has it under this fence. */
  release(lock: Pick<Lock, 'name' | 'holder' | 'fence'>): Promise<void>
  list(): Promise<Lock[]>
}
