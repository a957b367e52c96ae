import { describe, expect, it } from 'vitest'
import { groupIntoDigests, retryAfterMs } from './digests.ts'
import type { StoredNotification } from './notifications.ts'

const waiting = (count: number, everyMs: number, digest: string | null = null): StoredNotification[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `n${String(i).padStart(4, '0')}`,
    workspace: '',
    version: 1,
    createdAt: i * everyMs,
    notification: { digest } as StoredNotification['notification'],
  }))
const sizes = (of: readonly StoredNotification[]): number[] =>
  groupIntoDigests(of).map((digestOf) => digestOf.of.length)

describe('notifications of a channel', () => {
  it.each([
    ['ten at once go one by one', waiting(10, 0), Array(10).fill(1)],
    ['eleven at once go together', waiting(11, 0), [11]],
    ['eleven within five seconds go together', waiting(11, 500), [11]],
    ['eleven over more than that go one by one', waiting(11, 501), Array(11).fill(1)],
    ['a hundred go together at most', waiting(250, 0), [100, 100, 50]],
    ['none is none', [], []],
  ])('%s', (_, of, expected) => expect(sizes(of)).toEqual(expected))

  it('are in the order in which they were made', () => {
    const digests = groupIntoDigests(waiting(3, 1).reverse())
    expect(digests.map(({ of }) => of[0]!.id)).toEqual(['n0000', 'n0001', 'n0002'])
  })

  it('about two workspaces go in turns, also in a digest', () => {
    const flood = waiting(200, 0).map((each) => ({ ...each, workspace: 'a' }))
    const late = { ...waiting(1, 0)[0]!, id: 'z', workspace: 'b', createdAt: 1000 }
    expect(groupIntoDigests([...flood, late])[0]!.of.findIndex(({ id }) => id === 'z')).toBe(1)
    const later = { ...late, createdAt: 60_000 }
    expect(groupIntoDigests([...flood, later])[1]!.of.map(({ id }) => id)).toEqual(['z'])
  })

  it('that went in a digest go in the same again, whatever came since', () => {
    const [first] = groupIntoDigests(waiting(11, 0))
    expect(groupIntoDigests(waiting(11, 0))[0]!.digest).toBe(first!.digest)
    const again = groupIntoDigests([...waiting(11, 0, first!.digest), ...waiting(2, 1)])
    expect(again.map(({ digest, of }) => [digest, of.length])).toEqual([
      [first!.digest, 11],
      [null, 1],
      [null, 1],
    ])
  })

  it.each([
    [1, 0, 10_000],
    [2, 0, 20_000],
    [5, 0, 160_000],
    [9, 0, 2_560_000],
    [10, 0, 3_600_000],
    [1000, 0, 3_600_000],
    [3, 86_399_999, 40_000],
    [3, 86_400_000, null],
  ])('after attempt %i at the age of %i ms are tried again in %s ms', (attempts, ageMs, expected) => {
    expect(retryAfterMs(attempts, { ageMs, roll: 0.5 })).toBe(expected)
  })
})
