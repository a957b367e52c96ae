/** What one workspace may have of channels and rules, on both stores: refused beyond it with the name of the quota, and for nobody else. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { capOf } from '../../src/server/alerting/caps.ts'
import { openStage, STORES, type Stage } from './stage.ts'

let stage: Stage

const CHANNEL = {
  name: 'ops',
  config: {
    kind: 'webhook',
    url: 'https://example.com/',
    secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
  },
}
const RULE = { kind: 'missed' }

describe.each(STORES)('on %s', (store) => {
  beforeEach(async () => {
    stage = await openStage(store)
  })
  afterEach(() => stage[Symbol.asyncDispose]())

  it.each([
    ['channels', '/channels', CHANNEL],
    ['rules', '/alert-rules', RULE],
  ] as const)('a workspace has so many %s, and leaves room for all others', async (quota, path, body) => {
    const made: string[] = []
    for (let i = 0; i < capOf('a')[quota]; i++) {
      const answer = await stage.ask('POST', path, { body, as: 'a-admin' })
      expect(answer.status).toBe(201)
      made.push(answer.body.id)
    }
    const refused = await stage.ask('POST', path, { body, as: 'a-admin' })
    expect(refused).toMatchObject({ status: 409, body: { code: 'QUOTA_REACHED' } })
    expect(refused.body.detail).toContain('workspace "a"')
    expect(refused.body.detail).toContain(`${capOf('a')[quota]}`)
    // An admin of the fleet makes none for it either, since what is beyond would not be read.
    expect((await stage.ask('POST', path, { body: { ...body, workspace: 'a' } })).status).toBe(409)
    expect((await stage.ask('POST', path, { body, as: 'b-admin' })).status).toBe(201)
    expect((await stage.ask('POST', path, { body })).status).toBe(201)
    expect((await stage.ask('DELETE', `${path}/${made[0]}`, { as: 'a-admin' })).status).toBe(204)
    expect((await stage.ask('POST', path, { body, as: 'a-admin' })).status).toBe(201)
  })

  it('a default rule can be changed however many rules there are', async () => {
    const body = { kind: 'missed', enabled: false }
    expect((await stage.ask('PUT', '/alert-rules/default-missed', { body })).status).toBe(200)
    const data = (await stage.ask('GET', '/alert-rules')).body.data as { id: string; enabled: boolean }[]
    expect(data.find(({ id }) => id === 'default-missed')).toMatchObject({ enabled: false })
  })
})
