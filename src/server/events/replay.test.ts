import { describe, expect, it } from 'vitest'
import type { FeedEntry } from '../../store/contract/feed.ts'
import { createReplay, MAX_REPLAYED } from './replay.ts'

const entry = (at: number): FeedEntry => ({
  ...{ kind: 'audit', at, id: String(at), workspace: 'a', action: 'x', target: 'y', actor: 'z', seq: 1, hash: 'f' },
})

/** A feed with something in every millisecond up to now. */
function stand(now: number) {
  const reads: { afterAt: number; workspace?: string | undefined }[] = []
  let fails = false
  const replay = createReplay(async () => {
    if (fails) throw new Error('away')
    return {
      now: async () => now,
      feed: {
        async between({ afterAt, untilAt }, { limit, workspace }) {
          reads.push({ afterAt, workspace })
          const count = Math.min(limit, untilAt - afterAt)
          return Array.from({ length: count }, (_, i) => entry(afterAt + 1 + i))
        },
      },
    }
  })
  return { replay, reads, breakOff: () => void (fails = true) }
}
const ats = (missed: { events: readonly { at: number }[] | null }) => missed.events?.map(({ at }) => at)

describe('what was missed', () => {
  it('is everything after what was heard last', async () => {
    const { replay } = stand(100)
    const missed = await replay({ afterAt: 97, workspace: null })
    expect([ats(missed), missed.untilAt]).toEqual([[98, 99, 100], 100])
  })

  it('is too much when it is more than ten thousand', async () => {
    const { replay } = stand(1_000_000)
    expect((await replay({ afterAt: 1_000_000 - MAX_REPLAYED, workspace: null })).events).toHaveLength(MAX_REPLAYED)
    expect((await replay({ afterAt: 1_000_000 - MAX_REPLAYED - 1, workspace: null })).events).toBeNull()
  })

  it('is read once for all who left at about the same time, and by itself for others', async () => {
    const { replay, reads } = stand(100_000)
    const first = replay({ afterAt: 99_000, workspace: null })
    const crowd = Array.from({ length: 500 }, (_, i) => replay({ afterAt: 99_990 - (i % 100), workspace: null }))
    const bound = replay({ afterAt: 99_999, workspace: 'a' })
    await first
    for (const [i, missed] of (await Promise.all(crowd)).entries()) expect(missed.events).toHaveLength(10 + (i % 100))
    expect(ats(await bound)).toEqual([100_000])
    expect(reads).toEqual([
      { afterAt: 99_000, workspace: undefined },
      { afterAt: 99_891, workspace: undefined },
      { afterAt: 99_999, workspace: 'a' },
    ])
  })

  it('is told to those who missed little, though others with them missed too much', async () => {
    const { replay } = stand(1_000_000)
    const first = replay({ afterAt: 999_999, workspace: null })
    const [long, short] = [988_000, 997_000].map((afterAt) => replay({ afterAt, workspace: null }))
    await first
    expect((await long!).events).toBeNull()
    expect((await short!).events).toHaveLength(3000)
  })

  it('is refused to all who wait for it when it cannot be read, and read again for the next', async () => {
    const { replay, breakOff } = stand(100)
    breakOff()
    const both = [replay({ afterAt: 1, workspace: null }), replay({ afterAt: 2, workspace: null })]
    for (const each of both) await expect(each).rejects.toThrow('away')
    await expect(replay({ afterAt: 3, workspace: null })).rejects.toThrow('away')
  })
})
