/** The whole table of what a request with an Idempotency-Key meets. */
import { describe, expect, it } from 'vitest'
import { judge, LEASE_MS, RENEW_MS, type RequestRecord, type Verdict } from './idempotency-verdict.ts'

const NOW = 1_000_000
const ANSWER = { status: 201, headers: {}, body: { id: 'r1' } }
const begun: RequestRecord = { state: 'begun', version: 4, updatedAt: NOW, fingerprint: 'a', answer: null }

describe('a request with an Idempotency-Key', () => {
  const rows: [name: string, record: RequestRecord | null, seen: number | null, verdict: Verdict][] = [
    ['begins when the key is new', null, null, { kind: 'begin' }],
    ['begins when the first was refused while it waited', null, 4, { kind: 'begin' }],
    ['conflicts with another request', { ...begun, fingerprint: 'b' }, null, { kind: 'conflict' }],
    [
      'conflicts with another request that is over',
      { ...begun, fingerprint: 'b', state: 'done', answer: ANSWER },
      null,
      { kind: 'conflict' },
    ],
    [
      'is answered as the first was',
      { ...begun, state: 'done', answer: ANSWER, updatedAt: NOW - 10 * LEASE_MS },
      null,
      { kind: 'replay', answer: ANSWER },
    ],
    ['waits at its first look, though the lease is fresh', begun, null, { kind: 'wait', ms: 250 }],
    ['waits while nothing has changed', { ...begun, updatedAt: NOW - 1000 }, 4, { kind: 'wait', ms: 250 }],
    [
      'waits no longer than the lease lasts',
      { ...begun, updatedAt: NOW - LEASE_MS + 100 },
      4,
      { kind: 'wait', ms: 100 },
    ],
    ['is in flight when the server has renewed since', { ...begun, version: 5 }, 4, { kind: 'in_flight' }],
    ['is taken over when the lease has ended', { ...begun, updatedAt: NOW - LEASE_MS }, null, { kind: 'take_over' }],
    [
      'is taken over when the lease has ended after a renewal',
      { ...begun, version: 5, updatedAt: NOW - LEASE_MS },
      4,
      { kind: 'take_over' },
    ],
    ['is taken over at once after an error', { ...begun, state: 'interrupted' }, null, { kind: 'take_over' }],
    [
      'waits when the clock of the database went back',
      { ...begun, updatedAt: NOW + 60_000 },
      4,
      { kind: 'wait', ms: 250 },
    ],
  ]
  it.each(rows)('%s', (_, record, seen, verdict) => {
    expect(judge(record, { fingerprint: 'a', now: NOW, seen, waitedMs: 1000 })).toEqual(verdict)
  })

  it('does not wait for longer than a lease when the clock of the database went back', () => {
    const record = { ...begun, updatedAt: NOW + 60_000 }
    expect(judge(record, { fingerprint: 'a', now: NOW, seen: 4, waitedMs: LEASE_MS })).toEqual({ kind: 'in_flight' })
  })

  it('is answered well within 5 seconds after its server died, and a live server renews twice before that', () => {
    expect(LEASE_MS).toBeLessThan(4000)
    expect(2 * RENEW_MS).toBeLessThan(LEASE_MS)
  })
})
