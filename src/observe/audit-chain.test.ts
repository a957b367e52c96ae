import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Json } from '../json.ts'
import { auditHash, brokenAt, NO_HASH } from './audit-chain.ts'

interface Entry {
  readonly seq: number
  readonly at: number
  readonly actor: string
  readonly before: Json
  readonly after: Json
  readonly previousHash: string
  readonly hash: string
}

function chainOf(length: number): Entry[] {
  const entries: Entry[] = []
  for (let seq = 1; seq <= length; seq += 1) {
    const previousHash = entries.at(-1)?.hash ?? NO_HASH
    const entry = { seq, at: seq * 1000, actor: 'ana', before: null, after: { paused: true, n: seq }, previousHash }
    entries.push({ ...entry, hash: auditHash(previousHash, entry) })
  }
  return entries
}

/** The chain with one entry as somebody with access to the database would leave it. */
const touched = (seq: number, change: Partial<Entry>): Entry[] =>
  chainOf(5).map((entry) => (entry.seq === seq ? { ...entry, ...change } : entry))

describe('the hash of an audit entry', () => {
  it('is the SHA-256 of its JSON with sorted keys, as anybody can compute it', () => {
    const text = `{"a":[1,{"x":null,"y":"é"}],"previousHash":"${NO_HASH}","seq":1}`
    const hash = createHash('sha256').update(text).digest('hex')
    expect(auditHash(NO_HASH, { seq: 1, previousHash: NO_HASH, a: [1, { y: 'é', x: null }], hash: 'any' })).toBe(hash)
  })

  it('does not depend on the order of keys, and does on the order of a list', () => {
    expect(auditHash(NO_HASH, { a: 1, b: { c: 2, d: 3 } })).toBe(auditHash(NO_HASH, { b: { d: 3, c: 2 }, a: 1 }))
    expect(auditHash(NO_HASH, { a: [1, 2] })).not.toBe(auditHash(NO_HASH, { a: [2, 1] }))
  })

  it('tells values apart that read alike', () => {
    const hashes = [1, '1', [1], { 0: 1 }, null, 'null', '', [], {}].map((a) => auditHash(NO_HASH, { a }))
    expect(new Set(hashes).size).toBe(hashes.length)
  })

  it('covers a key that objects treat apart', () => {
    const entry = (text: string): object => ({ after: JSON.parse(text) as Json })
    expect(auditHash(NO_HASH, entry('{"__proto__":1}'))).not.toBe(auditHash(NO_HASH, entry('{}')))
  })

  it('hangs on the entry before', () => {
    expect(auditHash(NO_HASH, { a: 1 })).not.toBe(auditHash('1'.repeat(64), { a: 1 }))
  })
})

describe('a chain', () => {
  it('that nobody touched is whole, from its beginning and from any place on', () => {
    const chain = chainOf(5)
    expect(brokenAt(chain, NO_HASH)).toBeNull()
    expect(brokenAt(chain.slice(2), chain[1]!.hash)).toBeNull()
    expect(brokenAt([], NO_HASH)).toBeNull()
  })

  it.each<[string, Entry[], number]>([
    ['another actor', touched(3, { actor: 'bob' }), 3],
    ['another instant', touched(1, { at: 1 }), 1],
    ['another state', touched(5, { after: { paused: false, n: 5 } }), 5],
    ['another hash', touched(2, { hash: 'f'.repeat(64) }), 2],
    ['another hash before it', touched(4, { previousHash: 'f'.repeat(64) }), 4],
    ['another number', touched(4, { seq: 7 }), 7],
    ['one missing', chainOf(5).filter(({ seq }) => seq !== 2), 3],
    ['the first missing', chainOf(5).slice(1), 2],
    ['two the other way round', [0, 2, 1, 3].map((i) => chainOf(5)[i]!), 3],
    ['one twice', [0, 1, 1, 2].map((i) => chainOf(5)[i]!), 2],
  ])('with %s is broken there', (_, chain, seq) => {
    expect(brokenAt(chain, NO_HASH)).toBe(seq)
  })

  it('is broken at the next entry when one was changed and hashed again', () => {
    const [first, second, ...rest] = chainOf(4)
    const forged = { ...second!, actor: 'bob' }
    const hash = auditHash(first!.hash, forged)
    expect(brokenAt([first!, { ...forged, hash }, ...rest], NO_HASH)).toBe(3)
  })
})
