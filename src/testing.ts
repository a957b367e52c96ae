/** The entry point `everytick/testing`: a fake clock, a test app and the store conformance tests. */
export type { Need, OpenStore, OpenTransaction, StoreHarness } from './testing/conformance/harness.ts'
export type { FakeClock } from './testing/fake-clock.ts'
export { storeConformance } from './testing/store-conformance.ts'
export {
  createTestEverytick,
  type TestEverytick,
  type TestOptions,
  type TestRunFilter,
} from './testing/test-everytick.ts'
