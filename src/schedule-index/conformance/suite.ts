/** The whole suite, one group per file beside this; the promises stand in those files. */
import type { ScheduleIndex } from '../contract.ts'
import { badRowsGroup } from './bad-rows.ts'
import { claimingGroup } from './claiming.ts'
import { clockChangesGroup } from './clock-changes.ts'
import { type ConformanceHarness, type Group, runnerAtHand } from './harness.ts'
import { rivalsGroup } from './rivals.ts'
import { rowsGroup } from './rows.ts'

const GROUPS: Readonly<Record<string, Group>> = {
  rows: rowsGroup,
  claiming: claimingGroup,
  rivals: rivalsGroup,
  'clock changes': clockChangesGroup,
  'bad rows': badRowsGroup,
}

/** Declares, as tests, everything that callers of an index rely on; each test gets an empty index from the harness. */
export function createScheduleIndexConformanceTests<Index extends ScheduleIndex>(
  name: string,
  harness: ConformanceHarness<Index>,
): void {
  const { describe, it } = harness.runner ?? runnerAtHand()
  const declare = (title: string, prove: Parameters<Parameters<Group>[0]>[1]): unknown =>
    it(title, async () => {
      const index = await harness.createIndex()
      try {
        await prove({ index, rival: (await harness.createRival?.(index)) ?? index })
      } finally {
        await harness.cleanup?.(index)
      }
    })
  describe(`the schedule index "${name}"`, () => {
    for (const [title, group] of Object.entries(GROUPS)) describe(title, () => group(declare))
  })
}
