/** A `traceparent` that others can read, the same trace for all attempts of a run. */
import { expect, it } from 'vitest'
import { traceparentOf } from './traceparent.ts'

const RUN = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'

it('is the run as the trace, and the attempt as the parent', () => {
  expect(traceparentOf(RUN, 1)).toMatch(/^00-0190a1b2c3d47e5f8a9b0c1d2e3f4a5b-[0-9a-f]{16}-01$/)
  expect(traceparentOf(RUN, 1)).toBe(traceparentOf(RUN, 1))
  expect(traceparentOf(RUN, 2)).not.toBe(traceparentOf(RUN, 1))
})

it('is valid for ids of any kind', () => {
  for (const id of ['run-7', '', '00000000-0000-0000-0000-000000000000']) {
    expect(traceparentOf(id, 1)).toMatch(/^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-01$/)
  }
})
