/** The end of the audit log, on both stores: its newest hash is offered in four places, and with it a log that was cut or written again shows. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { auditHash, NO_HASH, shortHash } from '../../src/observe/audit-chain.ts'
import { openStage, STORES, type Stage } from './stage.ts'

let stage: Stage

interface Head {
  readonly entries: number
  readonly at: string | null
  readonly hash: string
}

const table = (store: string): string => (store === 'sqlite' ? 'everytick_audit_log' : 'everytick.audit_log')
const head = async (): Promise<Head> => (await stage.ask('GET', '/audit/head')).body
const verify = async (expected: string) => (await stage.ask('GET', `/audit/verify?expect=${expected}`)).body
const change = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await stage.ask('POST', `/queues/q${i}/pause`, { body: {} })
}

describe.each(STORES)('on %s', (store) => {
  beforeEach(async () => {
    stage = await openStage(store)
  })
  afterEach(() => stage[Symbol.asyncDispose]())

  it('the newest hash is there before any entry, and after each', async () => {
    expect(await head()).toEqual({ entries: 0, at: null, hash: NO_HASH })
    await change(2)
    const [newest] = (await stage.ask('GET', '/audit?limit=1')).body.data
    expect(await head()).toEqual({ entries: 2, at: newest.at, hash: newest.hash })
    expect((await stage.ask('GET', '/audit/head', { as: 'read' })).status).toBe(200)
    expect((await stage.ask('GET', '/audit/head', { as: 'a-admin' })).status).toBe(403)
  })

  it('the newest hash is in the metrics, as two series whatever was written', async () => {
    await change(3)
    const { body } = await stage.ask('GET', '/metrics')
    const lines = String(body).match(/^everytick_audit_log_.*$/gm)
    expect(lines).toEqual([
      'everytick_audit_log_entries 3',
      `everytick_audit_log_head ${shortHash((await head()).hash)}`,
    ])
  })

  it('a log that grew still holds a hash that was kept, whole or its beginning', async () => {
    await change(2)
    const { hash } = await head()
    await change(3)
    for (const expected of [hash, hash.toUpperCase(), hash.slice(0, 12)])
      expect(await verify(expected)).toEqual({ entries: 5, brokenAt: null, hash: (await head()).hash, expectedAt: 2 })
    expect((await stage.ask('GET', '/audit/verify')).body).toMatchObject({ expectedAt: null, brokenAt: null })
    for (const wrong of ['abc', 'x'.repeat(64), `${hash}0`])
      expect((await stage.ask('GET', `/audit/verify?expect=${wrong}`)).status).toBe(422)
  })

  it('a log whose end was cut off does not hold the hash any more, even when others were written since', async () => {
    await change(4)
    const { hash } = await head()
    await stage.sql(`delete from ${table(store)} where seq > 2`)
    expect(await verify(hash)).toMatchObject({ entries: 2, brokenAt: null, expectedAt: null })
    await change(4)
    expect(await verify(hash)).toMatchObject({ entries: 6, brokenAt: null, expectedAt: null })
    await stage.sql(`delete from ${table(store)}`)
    expect(await verify(hash)).toMatchObject({ entries: 0, brokenAt: null, expectedAt: null })
  })

  it('a log that was written again with hashes that fit does not hold the hash any more', async () => {
    await change(3)
    const { hash } = await head()
    const { auditLog } = await stage.server.parts.core.store()
    let previousHash = NO_HASH
    for (const entry of await auditLog.walk({ afterSeq: 0, limit: 10, maxBytes: 1_000_000 })) {
      const forged = { ...entry, actor: 'mallory', previousHash }
      const next = auditHash(previousHash, forged)
      await stage.sql(
        `update ${table(store)} set actor = 'mallory', previous_hash = '${previousHash}', hash = '${next}' where seq = ${entry.seq}`,
      )
      previousHash = next
    }
    expect(await verify(hash)).toMatchObject({ entries: 3, brokenAt: null, expectedAt: null, hash: previousHash })
  })

  it('what stands behind a break is no proof', async () => {
    await change(3)
    const { hash } = await head()
    await stage.sql(`update ${table(store)} set actor = 'mallory' where seq = 2`)
    expect(await verify(hash)).toMatchObject({ brokenAt: 2, expectedAt: null })
  })
})
