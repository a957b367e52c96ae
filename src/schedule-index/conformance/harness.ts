/** Declares promises about an index as tests, each on an empty index of its own; what is promised stands in the files beside this. */
import assert from 'node:assert/strict'
import { EverytickError } from '../../errors.ts'
import type { ScheduleIndex, ScheduleIndexRow } from '../contract.ts'

export interface ConformanceHarness<Index extends ScheduleIndex = ScheduleIndex> {
  /** An empty index. */
  createIndex(): Promise<Index> | Index
  /** Called after each promise, kept or not. */
  cleanup?(index: Index): Promise<void> | void
  /** Another index on the same rows, as a second process would open it; the races are then between the two. */
  createRival?(index: Index): Promise<ScheduleIndex> | ScheduleIndex
  /** What declares the tests, when it is not the vitest that runs this file. */
  readonly runner?: TestRunner
}

/** As much of vitest as is used; `node:test` fits as well. */
export interface TestRunner {
  describe(title: string, body: () => void): unknown
  it(title: string, body: () => Promise<void>): unknown
}

/** What a promise is tried on. */
export interface Subject {
  readonly index: ScheduleIndex
  readonly rival: ScheduleIndex
}

export type Promised = (title: string, prove: (subject: Subject) => Promise<void>) => void
export type Group = (promise: Promised) => void

/**
 * The vitest that is running. It is not imported, so that a server which only claims needs no vitest: a file under test
 * finds it where `import.meta.vitest` finds it, or among the globals when they are switched on.
 */
export function runnerAtHand(
  around: object & { readonly __vitest_index__?: unknown } = globalThis as object,
): TestRunner {
  const found = [around.__vitest_index__, around].find(isRunner)
  if (found) return found
  throw new EverytickError('OPTION_INVALID', 'no test runner is at hand', {
    hint: "call it in a file that vitest runs, or pass runner: { describe, it } of 'vitest' or 'node:test'",
  })
}

function isRunner(value: unknown): value is TestRunner {
  const { describe, it } = (value ?? {}) as Partial<TestRunner>
  return typeof describe === 'function' && typeof it === 'function'
}

export const at = (text: string): number => Date.parse(text)

/** A row that is due at `NINE` and every day at nine, unless told otherwise. */
export const NINE = at('2026-11-16T09:00:00Z')
export const DAY = 86_400_000

export const sample = (given: Partial<ScheduleIndexRow> = {}): ScheduleIndexRow => ({
  userId: 'ana',
  key: 'digest',
  cron: '0 9 * * *',
  nextFireAt: NINE,
  ...given,
})

/** Compares what a row says: whether an absent zone is a field that is undefined or no field is nobody's concern. */
const facts = ({ userId, key, cron, timezone, nextFireAt }: ScheduleIndexRow) => [
  userId,
  key,
  cron,
  timezone,
  nextFireAt,
]

export function same(found: readonly ScheduleIndexRow[], expected: readonly ScheduleIndexRow[]): void {
  const sorted = (rows: readonly ScheduleIndexRow[]): string[] => rows.map((row) => JSON.stringify(facts(row))).sort()
  assert.deepEqual(sorted(found), sorted(expected))
}

export async function putAll(index: ScheduleIndex, rows: readonly ScheduleIndexRow[]): Promise<void> {
  for (const row of rows) await index.upsert(row)
}

/** Moves through the instants, and answers the occurrences claimed at each. */
export async function claimedAt(index: ScheduleIndex, instants: readonly string[]): Promise<string[][]> {
  const found: string[][] = []
  for (const instant of instants) {
    const rows = await index.claimDue(at(instant))
    found.push(rows.map(({ nextFireAt }) => new Date(nextFireAt).toISOString().replace('.000Z', 'Z')))
  }
  return found
}
