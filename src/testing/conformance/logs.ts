/** Lines of runs: kept in the order in which they were stored, read on from any of them, and forgotten with the history. */
import { expect } from 'vitest'
import type { NewLogLine } from '../../store/contract/logs.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Group } from './harness.ts'
import { DAY, newId } from './samples.ts'

const line = (runId: string, change: Partial<NewLogLine> = {}): NewLogLine => ({
  runId,
  attempt: 1,
  at: Date.parse('2027-01-01T00:00:00.123Z'),
  level: 'info',
  message: 'half way',
  data: { done: 5 },
  ...change,
})

const messagesOf = async (store: Store, runId: string, page: { after?: number; limit?: number } = {}) =>
  (await store.logs.read(runId, { limit: 1000, ...page })).map(({ message }) => message)

const tidied = async (store: Store, historyMs: number): Promise<number> => {
  let removed = 0
  for (let more = true; more; ) {
    const kept = { journalMs: 1e12, idempotencyMs: 1e12, workersMs: 1e12, orphansMs: 1e12, endedMs: null }
    const step = await store.upkeep.tidy({ historyMs, ...kept })
    removed += step.removed
    more = step.more
  }
  return removed
}

export const logsGroup: Group = (promise) => {
  promise('keeps lines as they were written', { kills: 'a line is kept in part' }, async ({ store }) => {
    const id = newId()
    const lines = [
      line(id),
      line(id, { attempt: 2, at: 1, level: 'debug', message: '', data: null }),
      line(id, { level: 'warn', message: `'"\\{};--\n👩‍👧 é`, data: ['"', '\\', { a: null }] }),
      line(id, { level: 'error', message: 'NULL', data: 'text' }),
      line(id, { data: 0 }),
    ]
    await store.logs.append(lines)
    const kept = await store.logs.read(id, { limit: 10 })
    expect(kept.map(({ seq: _, ...rest }) => rest)).toEqual(lines)
  })

  promise(
    'keeps a line whose text no database can hold, with the replacement character',
    { kills: 'one line that cannot be kept takes the others with it' },
    async ({ store }) => {
      const id = newId()
      await store.logs.append([line(id, { message: 'a\0b\ud83dc', data: { text: 'a\0b\ud83dc' } }), line(id)])
      const [first, second] = await store.logs.read(id, { limit: 10 })
      expect(first).toMatchObject({ message: 'a\ufffdb\ufffdc', data: { text: 'a\ufffdb\ufffdc' } })
      expect(second).toMatchObject(line(id))
    },
  )

  promise(
    'reads the lines of a run in their order, and on from any of them',
    { kills: 'lines change their order' },
    async ({ store }) => {
      const [id, other] = [newId(), newId()]
      const numbers = Array.from({ length: 300 }, (_, i) => String(i))
      const batch = numbers.flatMap((message) => [line(id, { message }), line(other, { message: `other ${message}` })])
      await store.logs.append(batch.slice(0, 200))
      await store.logs.append(batch.slice(200))
      expect(await messagesOf(store, id)).toEqual(numbers)
      const first = await store.logs.read(id, { limit: 100 })
      const seqs = first.map(({ seq }) => seq)
      expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b))
      expect(seqs[0]).toBeGreaterThan(0)
      const on = await messagesOf(store, id, { after: seqs.at(-1)!, limit: 5 })
      expect(on).toEqual(['100', '101', '102', '103', '104'])
    },
  )

  promise('has no lines of a run that said nothing', { kills: 'lines of another run are read' }, async ({ store }) => {
    await store.logs.append([])
    await store.logs.append([line(newId())])
    expect(await store.logs.read(newId(), { limit: 10 })).toEqual([])
    expect(await store.logs.read('no id at all', { limit: 10 })).toEqual([])
  })

  promise(
    'forgets lines after the retention of history, and not before',
    { kills: 'lines are never forgotten' },
    async ({ store, advance }) => {
      const [old, late] = [newId(), newId()]
      // Whatever the clock of a worker says.
      await store.logs.append([line(old), line(old, { at: 0 }), line(old, { at: 4_000_000_000_000 })])
      await tidied(store, DAY)
      expect(await messagesOf(store, old)).toHaveLength(3)
      await advance(3 * DAY)
      await store.logs.append([line(late, { at: 0 })])
      expect(await tidied(store, DAY)).toBe(3)
      expect(await messagesOf(store, old)).toEqual([])
      expect(await messagesOf(store, late)).toEqual(['half way'])
    },
  )

  promise(
    'goes on counting when all of it was forgotten',
    { kills: 'the numbers of lines begin again' },
    async ({ store, advance }) => {
      const id = newId()
      await store.logs.append([line(id), line(id)])
      const last = (await store.logs.read(id, { limit: 10 })).at(-1)!
      await advance(3 * DAY)
      await tidied(store, DAY)
      await store.logs.append([line(id, { message: 'late' })])
      expect(await messagesOf(store, id, { after: last.seq })).toEqual(['late'])
    },
  )
}
