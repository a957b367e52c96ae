/** What a server logs of its reading of events while the database is away and when it is back. */
import { expect, it } from 'vitest'
import { coreOf } from '../../src/scheduler/core.ts'
import type { Follower } from '../../src/server/events/follower.ts'
import { createTail } from '../../src/server/events/tail.ts'
import { createTestEverytick } from '../../src/testing/test-everytick.ts'

it('events say once that they are read again after the database was away', async () => {
  await using t = await createTestEverytick({ now: '2027-01-01T00:00:00Z', jobs: [] })
  const core = coreOf(t.app)
  const facts: string[] = []
  core.hub.onEvent((fact) => {
    if ('where' in fact) facts.push(`${fact.kind} ${fact.where}`)
  })
  let isAway = true
  const now = () => (isAway ? Promise.reject(new Error('away')) : t.store.now())
  const tail = createTail({
    core: { ...core, store: async () => ({ ...t.store, now }) },
    ending: new AbortController().signal,
  })
  const follower = {
    principal: { keyId: null, workspace: null },
    ...{ offer() {}, begin() {}, resync() {}, reportPresence() {}, close() {} },
  } as unknown as Follower
  const until = async (isThere: () => boolean): Promise<void> => {
    while (!isThere()) {
      t.clock.moveBy(500)
      await new Promise(setImmediate)
    }
  }
  const joined = tail.join(follower, null)
  await until(() => facts.length >= 2)
  isAway = false
  await until(() => facts.includes('engine.recovered events'))
  await joined
  expect(facts.filter((fact) => fact === 'engine.recovered events')).toHaveLength(1)
  expect(new Set(facts)).toEqual(new Set(['engine.error events', 'engine.recovered events']))
  tail.leave(follower)
  await tail.stop()
})
