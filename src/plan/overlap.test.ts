import { describe, expect, it } from 'vitest'
import type { Overlap } from '../run/run.ts'
import { decideGroup, type GroupMove, type GroupRun } from './overlap.ts'

const NOW = 100

/** `a1` is a run due at 1, so before now; `running` and the like say what it is besides. */
function run(id: string, overlap: Overlap, change: Partial<GroupRun> = {}): GroupRun {
  const dueAt = Number(id.slice(1))
  const rest = {
    scheduleId: 's',
    state: 'pending',
    readiness: 'undecided',
    createdAt: 0,
    fence: 0,
    cancelRequested: false,
  } as const
  return { id, overlap, scheduledAt: dueAt, dueAt, ...rest, ...change }
}
const busy = (id: string, overlap: Overlap = 'skip'): GroupRun =>
  run(id, overlap, { state: 'running', readiness: 'ready', fence: 1 })
const retrying = (id: string): GroupRun => run(id, 'skip', { readiness: 'ready', fence: 1, dueAt: 900 })
const unclaimed = (id: string, overlap: Overlap): GroupRun => run(id, overlap, { readiness: 'ready' })
const waits = (id: string, overlap: Overlap): GroupRun => run(id, overlap, { readiness: 'blocked' })
const byHand = (id: string): GroupRun => run(id, 'queue', { scheduledAt: null })

/** Moves in short: `open a1`, `skip a2 < a1`, `cancel a1 for a2`. */
const words = (moves: readonly GroupMove[]): string[] =>
  moves.map((move) => {
    if (move.kind === 'skip') return `skip ${move.id} < ${move.behind}`
    return move.kind === 'cancel' ? `cancel ${move.id} for ${move.for}` : `${move.kind} ${move.id}`
  })

const TABLE: readonly (readonly [string, readonly GroupRun[], readonly string[]])[] = [
  ['an empty concurrency group has nothing to decide', [], []],
  ['a concurrency group with only an open run has nothing to decide', [busy('a1')], []],
  ['the first of a concurrency group that is free is opened', [run('a1', 'skip')], ['ready a1']],
  ['the first is opened ahead of its time, so that it starts on time', [run('a500', 'skip')], ['ready a500']],
  ['one that is far away is not opened yet, and keeps nobody waiting', [run('a99000', 'skip'), { ...byHand('a50'), id: 'b50' }], ['ready b50']],
  ['what is still to come is let be', [busy('a1'), run('a500', 'skip')], []],

  ['skip: one that comes due meanwhile is skipped', [busy('a1'), run('a2', 'skip')], ['skip a2 < a1']],
  ['skip: also while the one before waits for its retry', [retrying('a1'), run('a2', 'skip')], ['skip a2 < a1']],
  ['skip: also while the one before waits for a worker', [unclaimed('a1', 'skip'), run('a2', 'skip')], ['skip a2 < a1']],
  ['skip: of several due in a free concurrency group the first is opened, the rest skipped', [run('a2', 'skip'), run('a1', 'skip'), run('a3', 'skip')], ['ready a1', 'skip a2 < a1', 'skip a3 < a1']],
  ['skip: behind one that waits by right, too', [busy('a1'), waits('a2', 'queue'), run('a3', 'skip')], ['skip a3 < a1']],

  ['queue: all wait, in order', [busy('a1', 'queue'), run('a3', 'queue'), run('a2', 'queue')], ['block a2', 'block a3']],
  ['queue: the first of those that wait is next', [waits('a3', 'queue'), waits('a2', 'queue')], ['ready a2']],
  ['queue: one that was decided about is not decided about again', [busy('a1'), waits('a2', 'queue')], []],

  ['queue_one: the first waits, the rest are skipped', [busy('a1', 'queue_one'), run('a2', 'queue_one'), run('a3', 'queue_one')], ['block a2', 'skip a3 < a1']],
  ['queue_one: while one waits, the next is skipped', [busy('a1', 'queue_one'), waits('a2', 'queue_one'), run('a3', 'queue_one')], ['skip a3 < a1']],
  ['queue_one: when the concurrency group is free the one that waits starts, and the next waits', [waits('a2', 'queue_one'), run('a3', 'queue_one'), run('a4', 'queue_one')], ['ready a2', 'block a3', 'skip a4 < a2']],

  ['cancel_previous: the running one is told to stop, the newest waits', [busy('a1', 'cancel_previous'), run('a2', 'cancel_previous')], ['cancel a1 for a2', 'block a2']],
  ['cancel_previous: it is told once', [{ ...busy('a1', 'cancel_previous'), cancelRequested: true }, run('a2', 'cancel_previous')], ['block a2']],
  ['cancel_previous: a waiting run, which records may name, is cancelled for a newer one and not skipped', [{ ...busy('a1'), cancelRequested: true }, waits('a2', 'cancel_previous'), run('a3', 'cancel_previous')], ['cancel a2 for a3', 'block a3']],
  ['cancel_previous: an open run, which records may name, is cancelled for a newer one and not skipped', [unclaimed('a1', 'cancel_previous'), run('a2', 'cancel_previous')], ['cancel a1 for a2', 'block a2']],
  ['cancel_previous: nobody is skipped behind one that gives way itself', [unclaimed('a1', 'cancel_previous'), run('a2', 'cancel_previous'), run('a3', 'skip')], ['cancel a1 for a2', 'block a2', 'skip a3 < a2']],
  ['cancel_previous: the latest missed occurrence is opened before a newer one, which waits', [run('a1', 'queue'), run('a2', 'cancel_previous')], ['ready a1', 'block a2']],
  ['cancel_previous: the latest missed occurrence keeps its turn until a worker claims it', [unclaimed('a1', 'queue'), run('a2', 'cancel_previous')], ['block a2']],
  ['cancel_previous: the latest missed occurrence is cancelled like any other once it began', [busy('a1', 'queue'), run('a2', 'cancel_previous')], ['cancel a1 for a2', 'block a2']],
  ['cancel_previous: the latest missed occurrence is cancelled like any other between two retries', [run('a1', 'queue', { readiness: 'ready', fence: 1, dueAt: 900 }), run('a2', 'cancel_previous')], ['cancel a1 for a2', 'block a2']],
  ['queue_one: the latest missed occurrence waits although another does', [busy('a1', 'queue_one'), waits('a2', 'queue_one'), run('a3', 'queue'), run('a4', 'queue_one')], ['block a3', 'skip a4 < a1']],
  ['cancel_previous: of several due in a free concurrency group only the newest is opened', [run('a1', 'cancel_previous'), run('a2', 'cancel_previous'), run('a3', 'cancel_previous')], ['skip a1 < a3', 'skip a2 < a3', 'ready a3']],
  ['cancel_previous: one that is later in line is not its previous one, and goes first where it is open', [{ ...busy('a60', 'cancel_previous') }, run('a50', 'cancel_previous')], ['block a50']],
  ['cancel_previous: one still to come cancels nobody', [busy('a1', 'cancel_previous'), run('a500', 'cancel_previous')], []],
  ['cancel_previous: one between two retries is cancelled', [retrying('a1'), run('a2', 'cancel_previous')], ['cancel a1 for a2', 'block a2']],
  ['cancel_previous: when the old one is gone, the new one starts', [waits('a2', 'cancel_previous')], ['ready a2']],

  ['by hand: waits its turn under every policy', [busy('a1'), byHand('a2')], ['block a2']],
  ['by hand: does not give way to a newer occurrence', [busy('a1', 'cancel_previous'), { ...byHand('a2'), readiness: 'blocked' }, run('a3', 'cancel_previous')], ['cancel a1 for a3', 'block a3']],
  ['by hand: one that nobody began is cancelled, since it has no occurrence to skip', [{ ...byHand('a1'), readiness: 'ready' }, run('a2', 'cancel_previous')], ['cancel a1 for a2', 'block a2']],
  ['mixed policies, after an edit: each says for itself', [busy('a1'), run('a2', 'skip'), run('a3', 'queue'), run('a4', 'queue_one'), run('a5', 'skip')], ['skip a2 < a1', 'block a3', 'skip a4 < a1', 'skip a5 < a1']],
] // biome-ignore format: a table

describe('a concurrency group', () => {
  it.each(TABLE)('%s', (_, runs, expected) => {
    expect(words(decideGroup({ group: 'x', runs }, NOW))).toEqual(expected)
  })

  it('never has more than one run opened, nor one beside an open one', () => {
    const policies: Overlap[] = ['skip', 'queue', 'queue_one', 'cancel_previous']
    const readiness = ['undecided', 'blocked'] as const
    for (let seed = 0; seed < 4 ** 4; seed++) {
      const runs = [0, 1, 2, 3].map((i) => {
        const pick = Math.floor(seed / 4 ** i) % 4
        return run(`a${i * 40 + 1}`, policies[pick]!, { readiness: readiness[(seed + i) % 2]! })
      })
      const opened = (moves: readonly GroupMove[]): number => moves.filter(({ kind }) => kind === 'ready').length
      expect(opened(decideGroup({ group: 'x', runs }, NOW))).toBe(1)
      expect(opened(decideGroup({ group: 'x', runs: [busy('a0'), ...runs] }, NOW))).toBe(0)
    }
  })
})
