/** Tries the conformance suite itself: a plain right index passes, and each wrong one is caught by the promise that is meant for it. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Cron, type Interval, parseCron } from '../../src/cron.ts'
import { runnerAtHand } from '../../src/schedule-index/conformance/harness.ts'
import {
  createScheduleIndexConformanceTests,
  NEVER_AT,
  type ScheduleIndex,
  type ScheduleIndexRow,
} from '../../src/schedule-index.ts'
import { root } from '../built-package.ts'
import { importsOf, scan } from '../source-scan.ts'

/** The decisions of an index, each of which a wrong one makes differently. */
interface Choices {
  readonly name: (userId: string, key: string) => string
  readonly isDue: (row: ScheduleIndexRow, now: number) => boolean
  readonly limit: number
  readonly zone: (row: ScheduleIndexRow) => string
  readonly next: (timing: Cron | Interval, row: ScheduleIndexRow, now: number) => number
  readonly badAt: (row: ScheduleIndexRow, now: number) => number
  /** Whether bad rows count among those that one claim may look at. */
  readonly badFill: boolean
  readonly keepsNext: boolean
  /** Given between the look and the write. */
  readonly pause: () => Promise<void> | undefined
  readonly removes: boolean
}

const RIGHT: Choices = {
  name: (userId, key) => JSON.stringify([userId, key]),
  isDue: (row, now) => row.nextFireAt <= now,
  limit: 100,
  zone: ({ timezone = 'UTC' }) => timezone,
  next: (timing, _, now) => timing.nextAt(now) ?? NEVER_AT,
  badAt: () => NEVER_AT,
  badFill: false,
  keepsNext: false,
  pause: () => undefined,
  removes: true,
}

function indexOf(choices: Choices): ScheduleIndex {
  const rows = new Map<string, ScheduleIndexRow>()
  const put = (row: ScheduleIndexRow): unknown => rows.set(choices.name(row.userId, row.key), row)
  return {
    async upsert(row) {
      const old = rows.get(choices.name(row.userId, row.key))
      put(old && choices.keepsNext ? { ...row, nextFireAt: old.nextFireAt } : row)
    },
    async remove(userId, key) {
      if (choices.removes) rows.delete(choices.name(userId, key))
    },
    async claimDue(now, limit = choices.limit) {
      const claimed: ScheduleIndexRow[] = []
      let looked = 0
      const due = [...rows.values()].filter((row) => choices.isDue(row, now))
      const waited = choices.pause()
      if (waited) await waited
      for (const row of due.sort((a, b) => a.nextFireAt - b.nextFireAt)) {
        if ((choices.badFill ? looked++ : claimed.length) >= Math.min(limit, choices.limit)) break
        try {
          const timing = parseCron(row.cron, { timezone: choices.zone(row) }) as Cron
          put({ ...row, nextFireAt: choices.next(timing, row, now) })
          claimed.push(row)
        } catch {
          put({ ...row, nextFireAt: choices.badAt(row, now) })
        }
      }
      return claimed
    },
  }
}

/** Runs the suite on an index outside of vitest, and answers the promises that were broken. */
async function broken(choices: Choices): Promise<string[]> {
  const tests: [string, () => Promise<void>][] = []
  const runner = {
    describe: (_: string, body: () => void) => body(),
    it: (title: string, body: () => Promise<void>) => tests.push([title, body]),
  }
  createScheduleIndexConformanceTests('tried', { createIndex: () => indexOf(choices), runner })
  const failed: string[] = []
  for (const [title, body] of tests) await body().catch(() => failed.push(title))
  return failed
}

const WRONG: Record<string, [Partial<Choices>, caughtBy: string]> = {
  'takes the key alone for the identity': [{ name: (_, key) => key }, 'tells the same key of two users'],
  'joins user and key without a mark': [{ name: (userId, key) => userId + key }, 'tells the same key of two users'],
  'keeps the old occurrence at an edit': [{ keepsNext: true }, 'puts the newer row in the place'],
  'never removes': [{ removes: false }, 'lets a removed row fire no more'],
  'is due too late': [{ isDue: (row, now) => row.nextFireAt < now }, 'from the very instant it is due'],
  'is due too early': [{ isDue: (row, now) => row.nextFireAt <= now + 1 }, 'from the very instant it is due'],
  'reads the wall clock': [{ isDue: (row) => row.nextFireAt <= Date.now() }, 'takes now from its argument'],
  'stays where it was': [{ next: (_, row) => row.nextFireAt }, 'moves on what it claims'],
  'counts from now': [{ next: (_, __, now) => now + 300_000 }, 'does not drift'],
  'claims each missed one': [
    { next: (timing, row) => timing.nextAt(row.nextFireAt) ?? NEVER_AT },
    'one claim of many occurrences',
  ],
  'has no default limit': [{ limit: 1e6 }, 'a hundred at a time'],
  'forgets the zone': [{ zone: () => 'UTC' }, 'does not exist to the end of the gap'],
  'looks before it waits': [{ pause: () => new Promise(setImmediate) }, 'gives rivals at the same now different rows'],
  'leaves bad rows due': [{ badAt: (row) => row.nextFireAt, badFill: true }, 'a hundred bad rows'],
  'lets bad rows use up the limit': [{ badFill: true }, 'as many good rows behind bad ones'],
}

describe('the conformance suite', () => {
  it('passes an index that does what is asked', async () => {
    expect(await broken(RIGHT)).toEqual([])
  })

  it.each(Object.entries(WRONG))('catches an index that %s', async (_, [wrong, caughtBy]) => {
    expect(await broken({ ...RIGHT, ...wrong })).toContainEqual(expect.stringContaining(caughtBy))
  })

  it('finds vitest where a file under test has it, or among the globals, and says what to do elsewhere', () => {
    const runner = { describe, it }
    expect(runnerAtHand().it).toBe(it)
    expect(runnerAtHand({ __vitest_index__: runner })).toBe(runner)
    expect(runnerAtHand(runner as object)).toBe(runner)
    expect(() => runnerAtHand({})).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }))
  })
})

describe('the door', () => {
  it('needs no vitest, so that a server which only claims can do without', () => {
    const folder = join(root, 'src', 'schedule-index')
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /(?<!\.test)\.ts$/.test(name),
    )
    const imports = files.flatMap((name) => importsOf(scan(readFileSync(join(folder, name), 'utf8'))))
    expect(imports.length).toBeGreaterThan(20)
    expect(imports.filter((specifier) => !/^(?:\.|node:)/.test(specifier))).toEqual([])
  })
})
