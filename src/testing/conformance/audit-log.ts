/** The audit log: it only grows, without gaps, each entry hashed over itself and the one before, whoever adds at the same time. */
import { expect } from 'vitest'
import { brokenAt, NO_HASH } from '../../observe/audit-chain.ts'
import type { AuditEntry, NewAuditEntry } from '../../store/contract/audit-log.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Group } from './harness.ts'
import { race, racing } from './race.ts'
import { DAY, HOUR } from './samples.ts'

const entry = (change: Partial<NewAuditEntry> = {}): NewAuditEntry => ({
  workspace: 'acme',
  actor: 'ana',
  action: 'schedule.pause',
  target: 'schedule acme/nightly',
  before: { z: null, a: [1, 2.5], paused: false },
  after: { paused: true },
  origin: { address: '10.0.0.7', requestId: 'r1' },
  ...change,
})

const append = (store: Store, change: Partial<NewAuditEntry> = {}): Promise<AuditEntry> =>
  store.auditLog.append(entry(change))

const whole = (store: Store): Promise<AuditEntry[]> =>
  store.auditLog.walk({ afterSeq: 0, limit: 1000, maxBytes: 1_000_000 })

/** As many as there should be, numbered without gaps, in a chain that nobody touched. */
async function expectWhole(store: Store, length: number): Promise<void> {
  const entries = await whole(store)
  expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length }, (_, i) => i + 1))
  expect(brokenAt(entries, NO_HASH)).toBeNull()
}

export const auditLogGroup: Group = (promise) => {
  promise('keeps an entry as it was told', { kills: 'an audit entry is kept in part' }, async ({ store, advance }) => {
    const now = await store.now()
    const first = await append(store)
    expect(first).toEqual({ ...entry(), seq: 1, at: first.at, previousHash: NO_HASH, hash: first.hash })
    expect(first.at).toBeGreaterThanOrEqual(now)
    await advance(HOUR)
    const second = await append(store, { workspace: '', before: null, after: 'text', origin: [] })
    expect(second.at).toBeGreaterThanOrEqual(first.at + HOUR)
    expect(await whole(store)).toEqual([first, second])
  })

  promise(
    'ties each entry to the one before, by what is read back',
    { kills: 'an audit entry is not tied to the one before' },
    async ({ store }) => {
      for (const actor of ['ana', 'bo', 'cy']) await append(store, { actor })
      await expectWhole(store, 3)
      const [, second, third] = await whole(store)
      expect(third!.previousHash).toBe(second!.hash)
      expect(
        brokenAt(
          [second!, third!].map((each) => ({ ...each, actor: 'eve' })),
          second!.previousHash,
        ),
      ).toBe(2)
    },
  )

  promise(
    'hashes hostile text and numbers as they are read back',
    { kills: 'an audit entry is hashed before it is kept' },
    async ({ store }) => {
      const texts = ['a\0b', 'a\ud83db', `'"\\; drop table audit_log; --`, '👩‍👧 é\u2028', '  x  ', '']
      for (const text of texts) {
        const json = { [text]: [text, 1e21, 5e-324, -0, 2 ** 53, { '': text, 10: 1, 9: 2 }] }
        const told = { workspace: text, actor: text, action: text, target: text }
        const made = await append(store, { ...told, before: json, after: text, origin: null })
        expect((await whole(store)).at(-1)).toEqual(made)
      }
      await expectWhole(store, texts.length)
    },
  )

  promise(
    'refuses what is no JSON, and leaves no gap',
    { kills: 'a refused audit entry leaves a gap' },
    async ({ store }) => {
      await append(store)
      await expect(append(store, { after: 1n as never })).rejects.toThrow()
      await append(store)
      await expectWhole(store, 2)
    },
  )

  promise(
    'lists from the newest to the oldest, page by page, of one workspace or all',
    { kills: 'a page of the audit log holds others' },
    async ({ store }) => {
      for (const workspace of ['a', 'b', '', 'a', 'b', 'a']) await append(store, { workspace })
      const seqs = async (page: { workspace?: string; limit?: number; before?: number }): Promise<number[]> =>
        (await store.auditLog.list({ limit: 10, ...page })).map(({ seq }) => seq)
      expect(await seqs({})).toEqual([6, 5, 4, 3, 2, 1])
      expect(await seqs({ limit: 2, before: 5 })).toEqual([4, 3])
      expect(await seqs({ workspace: 'a' })).toEqual([6, 4, 1])
      expect(await seqs({ workspace: 'a', limit: 1, before: 6 })).toEqual([4])
      expect(await seqs({ workspace: '' })).toEqual([3])
    },
  )

  promise('walks from the oldest to the newest', { kills: 'a walk leaves entries out' }, async ({ store }) => {
    for (let i = 0; i < 5; i += 1) await append(store)
    const seqs = async (afterSeq: number, limit: number): Promise<number[]> =>
      (await store.auditLog.walk({ afterSeq, limit, maxBytes: 1_000_000 })).map(({ seq }) => seq)
    expect(await seqs(0, 2)).toEqual([1, 2])
    expect(await seqs(2, 2)).toEqual([3, 4])
    expect(await seqs(4, 2)).toEqual([5])
    expect(await seqs(5, 2)).toEqual([])
    // A page ends before its content is more than it may be, and has one entry at least.
    await append(store, { before: 'x'.repeat(1000) })
    await append(store, { after: 'x'.repeat(1000) })
    const within = async (afterSeq: number, maxBytes: number): Promise<number[]> =>
      (await store.auditLog.walk({ afterSeq, limit: 10, maxBytes })).map(({ seq }) => seq)
    expect(await within(0, 1000)).toEqual([1, 2, 3, 4, 5])
    expect(await within(5, 1000)).toEqual([6])
    expect(await within(5, 3000)).toEqual([6, 7])
    expect(await within(6, 1)).toEqual([7])
  })

  promise('is never forgotten', { kills: 'the audit log is forgotten' }, async ({ store, advance }) => {
    await append(store)
    await advance(1000 * DAY)
    await store.upkeep.tidy({ historyMs: 1, journalMs: 1, idempotencyMs: 1, workersMs: 1, orphansMs: 1, endedMs: null })
    await expectWhole(store, 1)
  })

  promise(
    'has one chain when many add to it at the same time, from several processes',
    { kills: 'two audit entries follow the same one', needs: 'second' },
    async ({ store, second }) => {
      const stores = [store, await second(), await second()]
      const added = await Promise.all(
        Array.from({ length: 30 }, (_, i) => append(stores[i % stores.length]!, { target: `run ${i}` })),
      )
      expect(new Set(added.map(({ seq }) => seq)).size).toBe(30)
      await expectWhole(store, 30)
      expect(new Set((await whole(store)).map(({ target }) => target)).size).toBe(30)
    },
  )

  const racingPromise = racing(promise)
  for (const filled of [false, true])
    for (const ending of ['commit', 'rollback'] as const)
      racingPromise(
        `adds after an entry that is being added to ${filled ? 'a' : 'an empty'} log, ${
          ending === 'commit' ? 'when that is done' : 'or in its place when that is undone'
        }`,
        'two audit entries follow the same one',
        async (subject) => {
          if (filled) await append(subject.store)
          const answer = await race(subject, {
            leased: (store) => append(store, { actor: 'them' }),
            met: (store) => append(store, { actor: 'us' }),
            ending,
          })
          const length = (filled ? 2 : 1) + (ending === 'commit' ? 1 : 0)
          expect(answer).toMatchObject({ actor: 'us', seq: length })
          await expectWhole(subject.store, length)
        },
      )
}
