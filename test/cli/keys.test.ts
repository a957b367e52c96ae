/** `everytick keys`, by the built program: each command on both stores and against a server, their details against the server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { coreOf } from '../../src/scheduler/core.ts'
import { createKeys, type Key, type Keys } from '../../src/server/keys.ts'
import { ensureBuilt } from '../built-package.ts'
import { openStill, program, type StillPlace } from './still-place.ts'

beforeAll(ensureBuilt)

const NEW = { workspace: null, by: 'test', forMs: null } as const
const keysOf = ({ app }: StillPlace): Keys => createKeys(coreOf(app))

describe.each(['sqlite', 'postgres'] as const)('everytick keys on %s', (name) => {
  it('makes, rolls, revokes and lists keys', async () => {
    await using place = await openStill(name)
    const { key: old } = await keysOf(place).create({ ...NEW, name: 'old', scope: 'operate' })
    const { key: lost } = await keysOf(place).create({ ...NEW, name: 'lost', scope: 'read' })
    const [made, rolled, revoked] = await place.runAll(
      ['keys', 'create', '--name', 'ops', '--scope', 'operate', '--workspace', 'shop'],
      ['keys', 'roll', old.id],
      ['keys', 'revoke', lost.id],
    )
    for (const end of [made, rolled]) expect(end).toMatchObject({ code: 0, out: expect.stringMatching(/^evt_op_/) })
    expect(revoked).toMatchObject({ code: 0, out: 'revoked lost\n' })
    const [shown, listed] = await Promise.all([place.onTerminal('keys', 'ls'), place.run('keys', 'ls', '--json')])
    expect(shown.code).toBe(0)
    expect(shown.out).toMatch(
      /^ {2}ID +NAME +SCOPE +WORKSPACE +STATE +EXPIRES +LAST USED\n {2}[\da-f-]{8,36} {2}\w+ +op/,
    )
    const keys: Key[] = JSON.parse(listed.out)
    const told = keys.map((key) => `${key.name} ${key.revokedAt === null ? 'in force' : 'revoked'}`)
    expect(told.sort()).toEqual(['lost revoked', 'old in force', 'old revoked', 'ops in force'])
  })
})

describe('everytick keys against a server', () => {
  let place: StillPlace
  beforeAll(async () => {
    place = await openStill('server')
  })
  afterAll(() => place[Symbol.asyncDispose]())

  it('makes a key, lists it without its secret, rolls it and revokes it', async () => {
    const made = await place.run('keys', 'create', '--name', 'ops', '--scope', 'operate', '--workspace', 'shop')
    expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^evt_op_[\w-]{65}\n$/) })
    expect(made.err).toContain('not shown again')
    const [key] = JSON.parse((await place.run('keys', 'ls', '--json')).out)
    expect(key).toMatchObject({ name: 'ops', scope: 'operate', workspace: 'shop', revokedAt: null })
    const rolled = await place.run('keys', 'roll', key.id, '--expires-in', '90d', '--json')
    const fresh = JSON.parse(rolled.out)
    expect(fresh).toMatchObject({ name: 'ops', token: expect.stringMatching(/^evt_op_/), revokedAt: null })
    expect(fresh.expiresAt).not.toBeNull()
    expect(await place.run('keys', 'revoke', fresh.id)).toMatchObject({ code: 0, out: 'revoked ops\n' })
    const [listed, again] = await place.runAll(['keys', 'ls'], ['keys', 'roll', key.id])
    const rows = listed!.out.split('\n').filter((row) => row.includes('\tops\t'))
    expect(rows.map((row) => row.split('\t').slice(1, 5))).toEqual([
      ['ops', 'operate', 'shop', 'revoked'],
      ['ops', 'operate', 'shop', 'revoked'],
    ])
    expect(rows.join()).not.toContain(made.out.trim())
    expect(again).toMatchObject({ code: 3, out: '' })
  })

  it('changes nothing with --dry-run, nor where it refuses a strange scope (2) or a strange id (3)', async () => {
    const nobody = '0190a0f0-0000-7000-8000-000000000000'
    const ids = async () => (await keysOf(place).list({ limit: 100 })).map(({ id }) => id)
    const before = await ids()
    const [told, scope, id, dry] = await place.runAll(
      ['keys', 'create', '--name', 'ghost', '--dry-run'],
      ['keys', 'create', '--name', 'x', '--scope', 'king'],
      ['keys', 'revoke', nobody],
      ['keys', 'roll', nobody, '--dry-run'],
    )
    expect(told).toMatchObject({ code: 0, out: 'would create the key ghost (read)\n' })
    expect(scope).toMatchObject({ code: 2, out: '', err: expect.stringMatching(/scope[\s\S]*read, operate, admin/) })
    expect([id?.code, dry?.code]).toEqual([3, 3])
    expect(await ids()).toEqual(before)
    expect((await place.run('keys', 'ls', '--json', 'id')).out).toContain(before[0])
  })

  it('says where it could look when nobody said', async () => {
    const { code, err } = await program('keys', 'ls')
    expect(code).toBe(2)
    expect(err).toMatch(/--url or --db[\s\S]*DATABASE_URL/)
  })

  it('is refused by a server without the right key (exit 4), and says when there is no server (exit 1)', async () => {
    const url = place.where[1]!
    const [none, wrong, away] = await Promise.all([
      program('keys', 'ls', '--url', url),
      program('keys', 'ls', '--url', url, '--token', 'evt_ad_nonsense', '--json'),
      program('keys', 'ls', '--url', 'http://127.0.0.1:1'),
    ])
    expect([none.code, wrong.code, away.code]).toEqual([4, 4, 1])
    expect(JSON.parse(wrong.err)).toMatchObject({ code: 'UNAUTHENTICATED' })
  })
})
