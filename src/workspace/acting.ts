/** Knows whether the code at work acts for a key that is bound to a workspace; which quotas follow from that is decided in `quotas.ts`. */
import { AsyncLocalStorage } from 'node:async_hooks'

const storage = new AsyncLocalStorage<boolean>()

/** Does the work, and everything it starts, under the quotas of bound keys, or without. Carried along by Node, so that no caller can forget it. */
export const actingBound = <T>(isBound: boolean, work: () => T): T => storage.run(isBound, work)

export const isActingBound = (): boolean => storage.getStore() ?? false
