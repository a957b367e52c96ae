/** A worker frozen beyond its lease that wakes while another executes the run: its late result is refused and on record, and the other's counts. */
import { afterEach, describe, expect, it } from 'vitest'
import { defineJob, everytick } from '../../src/index.ts'
import { createFleet, type Fleet, until } from './fleet.ts'
import { type ChaosStore, STORES } from './stores.ts'

const hold = defineJob({
  name: 'hold',
  retry: { attempts: 5, backoff: 'fixed', base: '50ms', max: '50ms' },
  run: () => {},
})

let fleet: Fleet | undefined
let opened: ChaosStore | undefined
afterEach(async () => {
  await fleet?.killAll()
  await opened?.close()
})

describe.each(Object.entries(STORES))('a worker on %s that is stopped past its lease and goes on', (_, openStore) => {
  it.each([
    ['', false],
    [', also by the fence alone', true],
  ])(
    'has its late result refused and recorded while the second holder still works, whose result then counts%s',
    async (_, sameClaimIds) => {
      opened = await openStore()
      const { store, url } = opened
      fleet = createFleet(() => url, { lease: '1s', sameClaimIds })
      fleet.block(true)
      const frozen = fleet.start('both')
      await frozen.ready
      const app = everytick({ store, jobs: [hold] })
      const { id } = await app.enqueue(hold)
      await until('the first worker is at work', async () => fleet!.effects().some((effect) => effect.id === id))
      frozen.process.kill('SIGSTOP')
      const other = fleet.start('both')
      await other.ready
      await until('the second worker is at work', async () =>
        fleet!.effects().some((effect) => effect.id === id && effect.pid === other.process.pid),
      )
      // From here on two processes execute the run at the same time, and only the first is let go.
      fleet.block(true, other.process.pid)
      fleet.block(false)
      frozen.process.kill('SIGCONT')
      const refused = await until('the late result is on record', async () => {
        const journal = await store.history.journal({ runId: id })
        return journal.find(({ kind }) => kind === 'refused')
      })
      expect(refused).toMatchObject({ kind: 'refused', runId: id, data: { fence: 1 } })
      expect(await store.history.run(id)).toMatchObject({ state: 'running', fence: 2 })
      expect(frozen.process.exitCode).toBeNull()
      fleet.block(false, other.process.pid)
      const finished = await until('the run has finished', async () => {
        const run = await store.history.run(id)
        return run?.state === 'succeeded' ? run : null
      })
      expect(finished.result).toEqual({ fence: 2, pid: other.process.pid })
      expect((await store.history.journal({ runId: id })).map(({ kind }) => kind)).toEqual(['lost', 'refused'])
    },
  )
})
