import { describe, expect, it } from 'vitest'
import { createOperationLimits, createSemaphore, type Holder, type InFlight, limitReached } from './concurrency.ts'

const LIMITS = { server: 10, workspace: 4, key: 2 }

describe('one more request', () => {
  it.each<[InFlight, ReturnType<typeof limitReached>]>([
    [{ server: 0, workspace: 0, key: 0 }, null],
    [{ server: 1, workspace: 1, key: 1 }, null],
    [{ server: 2, workspace: 2, key: 2 }, 'key'],
    [{ server: 3, workspace: 3, key: 0 }, null],
    [{ server: 4, workspace: 4, key: 0 }, 'workspace'],
    [{ server: 9, workspace: 4, key: 2 }, 'key'],
    // Three workspaces have taken 4, 3 and 1: two places are left, for whoever holds less than two.
    [{ server: 8, workspace: 1, key: 0 }, null],
    [{ server: 8, workspace: 2, key: 0 }, 'server'],
    [{ server: 9, workspace: 0, key: 0 }, null],
    [{ server: 9, workspace: 1, key: 1 }, 'server'],
    [{ server: 10, workspace: 0, key: 0 }, 'server'],
    // A caller that a host vouches for has no key.
    [{ server: 3, workspace: 3, key: null }, null],
    [{ server: 4, workspace: 4, key: null }, 'workspace'],
  ])('beside %j meets the limit of: %s', (inFlight, owner) => {
    expect(limitReached(LIMITS, inFlight)).toBe(owner)
  })
})

describe('a semaphore', () => {
  const semaphore = () => createSemaphore({ what: 'scans', limits: LIMITS, retryAfterSeconds: 3 })
  const holder = (workspace: string, key: number): Holder => ({ workspace, key: `${workspace}-${key}` })

  it('refuses with a code, the owner of the limit and the time to wait', () => {
    const { take } = semaphore()
    take(holder('a', 1))
    take(holder('a', 1))
    expect(() => take(holder('a', 1))).toThrow(
      expect.objectContaining({
        code: 'CONCURRENCY_LIMITED',
        message: 'limit of the key: the key has 2 scans in flight, which is its limit',
        details: expect.objectContaining({ headers: { 'retry-after': '3' } }),
      }),
    )
  })

  it('gives a workspace with many keys no more than its share, and the next workspace always a place', () => {
    const { take } = semaphore()
    const taken = (workspace: string): number => {
      let count = 0
      for (let key = 0; key < 50; key++) {
        try {
          take(holder(workspace, key))
          count++
        } catch {
          // Counted by what was taken.
        }
      }
      return count
    }
    expect(['a', 'b', 'c', 'd'].map(taken)).toEqual([4, 3, 2, 1])
  })

  it('takes a place back once, however often it is given back', () => {
    const { take } = semaphore()
    const first = take(holder('a', 1))
    take(holder('a', 1))
    first()
    first()
    take(holder('a', 1))
    expect(() => take(holder('a', 1))).toThrow('limit of the key')
  })

  it('lets a quota stand in the place of the limit of a workspace', () => {
    const { take } = semaphore()
    take(holder('a', 1), { workspace: 1 })
    expect(() => take(holder('a', 2), { workspace: 1 })).toThrow('limit of the workspace: the workspace has 1 scans')
  })
})

describe('the limits of operations', () => {
  it('are chosen by the cost in the row of the operation, and a read has none', async () => {
    const limits = createOperationLimits(async (cost, workspace) =>
      cost === 'stream' && workspace === 'a' ? 1 : undefined,
    )
    const holder = { key: 'k', workspace: 'workspace a', boundTo: 'a' }
    await limits.take({ id: 'followEvents' }, holder)
    await expect(limits.take({ id: 'readLogs' }, holder)).rejects.toThrow('open streams')
    for (let i = 0; i < 1000; i++) await limits.take({ id: 'getRun' }, holder)
  })
})
