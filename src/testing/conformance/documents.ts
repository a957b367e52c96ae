/** Documents: kept as they were put, changed only from the version that was seen, and not there for anybody once they have expired. */
import { expect } from 'vitest'
import type { Document, DocumentPage, PutDocument } from '../../store/contract/documents.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Group } from './harness.ts'
import { race, racing } from './race.ts'
import { HOUR, MINUTE } from './samples.ts'

const document = (change: Partial<PutDocument> = {}): PutDocument => ({
  kind: 'key',
  id: 'k1',
  workspace: 'acme',
  state: 'active',
  data: { name: 'deploy', scopes: ['read'], lastUsedAt: null },
  from: 0,
  ...change,
})

const put = (store: Store, change: Partial<PutDocument> = {}): Promise<Document | null> =>
  store.documents.put(document(change))

const KEPT = { historyMs: 1e12, journalMs: 1e12, idempotencyMs: 1e12, workersMs: 1e12, orphansMs: 1e12, endedMs: null }

export const documentsGroup: Group = (promise) => {
  promise('keeps a document as it was put', { kills: 'a document is kept in part' }, async ({ store }) => {
    const now = await store.now()
    const { from: _, ...given } = document()
    const made = (await put(store, { forMs: HOUR }))!
    const instants = { createdAt: made.createdAt, updatedAt: made.createdAt, expiresAt: made.createdAt + HOUR }
    expect(made).toEqual({ ...given, version: 1, ...instants })
    expect(made.createdAt).toBeGreaterThanOrEqual(now)
    expect(await store.documents.get('key', 'k1')).toEqual(made)
    expect(await store.documents.get('key', 'k2')).toBeNull()
    expect(await put(store, { id: 'k2', workspace: '', state: '', data: null })).toMatchObject({ expiresAt: null })
    expect(await store.documents.get('key', 'k2')).toMatchObject({ workspace: '', state: '', data: null })
  })

  promise(
    'changes a document from the version that was seen, and from no other',
    { kills: 'a document is changed from another version' },
    async ({ store, advance }) => {
      const made = (await put(store))!
      await advance(MINUTE)
      const data = { name: 'backup' }
      const changed = (await put(store, { from: 1, workspace: '', state: 'revoked', data }))!
      const instants = { createdAt: made.createdAt, updatedAt: changed.updatedAt, expiresAt: null }
      expect(changed).toEqual({ kind: 'key', id: 'k1', workspace: '', state: 'revoked', data, version: 2, ...instants })
      expect(changed.updatedAt).toBeGreaterThanOrEqual(made.updatedAt + MINUTE)
      for (const from of [1, 3]) expect(await put(store, { from, data: { lost: true } })).toBeNull()
      expect(await put(store, { id: 'k2', from: 1 })).toBeNull()
      expect(await store.documents.list('key', { limit: 10 })).toEqual([changed])
    },
  )

  promise(
    'names the states of a kind that begin alike, each once and in order',
    { kills: 'the states of documents are named in part' },
    async ({ store }) => {
      for (const [id, state] of [
        ['k1', 'pending b'],
        ['k2', 'pending a'],
        ['k3', 'pending b'],
        ['k4', 'sent'],
        ['k5', 'a'],
      ])
        await put(store, { id: id!, state: state! })
      await put(store, { kind: 'session', state: 'pending c' })
      const statesOf = (prefix: string, limit = 10) => store.documents.states('key', { prefix, limit })
      expect(await statesOf('pending ')).toEqual(['pending a', 'pending b'])
      expect(await statesOf('pending ', 1)).toEqual(['pending a'])
      expect(await statesOf('')).toEqual(['a', 'pending a', 'pending b', 'sent'])
      expect(await statesOf('z')).toEqual([])
    },
  )

  promise(
    'makes none where one is, and knows those of another kind apart',
    { kills: 'a document is made over another' },
    async ({ store }) => {
      const made = await put(store)
      expect(await put(store, { data: { lost: true } })).toBeNull()
      expect(await store.documents.get('key', 'k1')).toEqual(made)
      expect(await put(store, { kind: 'session', data: 1 })).toMatchObject({ kind: 'session', version: 1 })
      expect(await store.documents.get('key', 'k1')).toEqual(made)
      expect(await store.documents.remove('session', 'k1')).toBe(true)
      expect(await store.documents.list('key', { limit: 10 })).toEqual([made])
    },
  )

  promise(
    'shows, changes and removes none that has expired, and makes it again',
    { kills: 'a document outlives its time' },
    async ({ store, advance }) => {
      await put(store, { forMs: MINUTE })
      await advance(MINUTE - 1)
      expect(await store.documents.get('key', 'k1')).toMatchObject({ version: 1 })
      await advance(1)
      expect(await store.documents.get('key', 'k1')).toBeNull()
      expect(await store.documents.list('key', { limit: 10 })).toEqual([])
      expect(await put(store, { from: 1 })).toBeNull()
      expect(await store.documents.remove('key', 'k1')).toBe(false)
      const anew = (await put(store, { workspace: 'b', state: 's', data: 2, forMs: HOUR }))!
      expect(anew).toMatchObject({ workspace: 'b', state: 's', data: 2, version: 1, createdAt: anew.updatedAt })
      expect(anew.expiresAt).toBe(anew.createdAt + HOUR)
    },
  )

  promise(
    'counts the time of a document from its last change, or lets it stay',
    { kills: 'a change keeps the old end' },
    async ({ store, advance }) => {
      for (const id of ['k1', 'k2']) await put(store, { id, forMs: MINUTE })
      await advance(MINUTE / 2)
      expect(await put(store, { id: 'k1', from: 1, forMs: MINUTE })).not.toBeNull()
      expect(await put(store, { id: 'k2', from: 1 })).toMatchObject({ expiresAt: null })
      await advance(MINUTE / 2)
      expect(await store.documents.get('key', 'k1')).not.toBeNull()
      await advance(MINUTE / 2)
      expect(await store.documents.get('key', 'k1')).toBeNull()
      expect(await store.documents.get('key', 'k2')).not.toBeNull()
    },
  )

  promise(
    'lists from the greatest id to the least, by whose they are and how they stand',
    { kills: 'a list of documents holds others' },
    async ({ store }) => {
      // Byte by byte: capitals come before small letters, in whatever language.
      for (const [id, workspace, state] of [
        ['a', 'acme', 'open'],
        ['B', 'acme', 'done'],
        ['c', 'other', 'open'],
        ['d', '', 'done'],
        ['e', 'acme', 'open'],
      ] as const)
        await put(store, { kind: 'alert', id, workspace, state })
      await put(store, { kind: 'key', id: 'z', workspace: 'acme', state: 'open' })
      const ids = async (page: Partial<DocumentPage>): Promise<string> =>
        (await store.documents.list('alert', { limit: 10, ...page })).map(({ id }) => id).join('')
      expect(await ids({})).toBe('edcaB')
      expect(await ids({ limit: 2 })).toBe('ed')
      expect(await ids({ limit: 2, after: 'd' })).toBe('ca')
      expect(await ids({ after: 'a' })).toBe('B')
      expect(await ids({ workspace: 'acme' })).toBe('eaB')
      expect(await ids({ workspace: '' })).toBe('d')
      expect(await ids({ state: 'open' })).toBe('eca')
      expect(await ids({ workspace: 'acme', state: 'open', after: 'e' })).toBe('a')
    },
  )

  promise(
    'removes a document once, and only in the version that is named',
    { kills: 'a removal does not look at the version' },
    async ({ store }) => {
      for (const id of ['k1', 'k2']) await put(store, { id })
      for (const from of [0, 2]) expect(await store.documents.remove('key', 'k1', from)).toBe(false)
      expect(await store.documents.remove('key', 'k1', 1)).toBe(true)
      expect(await store.documents.remove('key', 'k1')).toBe(false)
      expect((await store.documents.list('key', { limit: 10 })).map(({ id }) => id)).toEqual(['k2'])
      expect(await put(store, { id: 'k1' })).toMatchObject({ version: 1 })
    },
  )

  promise(
    'forgets what has expired, and nothing that stays',
    { kills: 'expired documents are never forgotten' },
    async ({ store, advance }) => {
      for (const [id, forMs] of [
        ['k1', MINUTE],
        ['k2', 2 * HOUR],
      ] as const)
        await put(store, { id, forMs })
      await put(store, { id: 'k3' })
      expect(await store.upkeep.tidy(KEPT)).toMatchObject({ removed: 0 })
      await advance(HOUR)
      expect(await store.upkeep.tidy(KEPT)).toMatchObject({ removed: 1 })
      expect((await store.documents.list('key', { limit: 10 })).map(({ id }) => id)).toEqual(['k3', 'k2'])
    },
  )

  promise(
    'refuses what is too large or no JSON, and keeps what was there',
    { kills: 'a document is written before it is read' },
    async ({ store }) => {
      const made = await put(store)
      for (const data of ['x'.repeat(3_000_000), 1n as never])
        await expect(put(store, { from: 1, data })).rejects.toThrow()
      expect(await store.documents.get('key', 'k1')).toEqual(made)
      const data = { text: 'é'.repeat(500_000) }
      expect(await put(store, { from: 1, data })).toMatchObject({ data })
    },
  )

  const racingPromise = racing(promise)
  for (const ending of ['commit', 'rollback'] as const) {
    const suffix = ending === 'commit' ? '' : ', and makes up for it when that is undone'
    const wins = ending === 'rollback'

    racingPromise(
      `lets one of two change a document that both saw${suffix}`,
      'a document is changed from another version',
      async (subject) => {
        await put(subject.store)
        const answer = await race(subject, {
          leased: (store) => put(store, { from: 1, data: 'theirs' }),
          met: (store) => put(store, { from: 1, data: 'ours' }),
          ending,
        })
        expect(answer !== null).toBe(wins)
        const data = wins ? 'ours' : 'theirs'
        expect(await subject.store.documents.get('key', 'k1')).toMatchObject({ version: 2, data })
      },
    )

    racingPromise(
      `lets one of two make a document that neither saw${suffix}`,
      'a document is made over another',
      async (subject) => {
        const answer = await race(subject, {
          leased: (store) => put(store, { data: 'theirs' }),
          met: (store) => put(store, { data: 'ours' }),
          ending,
        })
        expect(answer !== null).toBe(wins)
        const data = wins ? 'ours' : 'theirs'
        expect(await subject.store.documents.get('key', 'k1')).toMatchObject({ version: 1, data })
      },
    )

    racingPromise(
      `removes no document that somebody is just changing${suffix}`,
      'a removal does not look at the version',
      async (subject) => {
        await put(subject.store)
        const answer = await race<unknown, boolean>(subject, {
          leased: (store) => put(store, { from: 1, data: 'theirs' }),
          met: (store) => store.documents.remove('key', 'k1', 1),
          ending,
        })
        expect(answer).toBe(wins)
        expect((await subject.store.documents.get('key', 'k1'))?.version).toBe(wins ? undefined : 2)
      },
    )
  }
}
