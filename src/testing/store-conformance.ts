/** Lets `everytick/testing` be used without vitest: the suite is loaded where vitest is installed, and refuses to run where not. */
import { EverytickError } from '../errors.ts'
import type { Store } from '../store/contract/store.ts'
import type { StoreHarness } from './conformance/harness.ts'

const suite = await import('./conformance/suite.ts').catch((error: unknown) => {
  if (String(error).includes('vitest')) return null
  throw error
})

/** Registers the promises that every store must hold, as vitest tests. */
export function storeConformance<S extends Store>(name: string, harness: StoreHarness<S>): void {
  if (!suite) {
    throw new EverytickError(
      'PACKAGE_MISSING',
      'storeConformance() registers its tests with vitest, which is not installed',
      {
        hint: 'npm install --save-dev vitest',
      },
    )
  }
  suite.storeConformance(name, harness)
}
