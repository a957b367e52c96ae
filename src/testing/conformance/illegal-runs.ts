/** The database itself refuses a run that cannot be, whatever statement would write it. */
import { expect } from 'vitest'
import type { Alteration, Group } from './harness.ts'
import { enqueued, running, SUCCEEDED, settled } from './samples.ts'

const REFUSED = /check constraint/i

/** What no run may become: while it waits, while it is running, and once it has ended. */
const ILLEGAL: Readonly<Record<'pending' | 'running' | 'ended', readonly string[]>> = {
  pending: [
    `state = 'succeeded'`,
    `state = 'running'`,
    'priority = 10',
    'attempt = -1',
    'attempt = 1',
    'fence = -1',
    `worker_id = 'w1'`,
    'lease_until = due_at',
    'scheduled_at = due_at',
    `overlap = 'sometimes'`,
    `overlap = 'queue'`,
    `readiness = 'ajar'`,
    `readiness = 'blocked'`,
  ],
  running: [
    `state = 'pending'`,
    `state = 'failed'`,
    'attempt = attempt + 1',
    'fence = 0',
    'worker_id = null',
    'lease_until = null',
    'started_at = null',
    `concurrency_group = 'l', overlap = 'queue', readiness = 'blocked'`,
    `concurrency_group = 'l', overlap = 'queue', readiness = 'undecided'`,
  ],
  ended: [`state = 'pending'`, `state = 'running'`, `state = 'skipped'`, `state = 'missed'`, `state = ''`],
}

/** The same in its neighbourhood, so that a statement that fails for another reason is not taken for a refusal. */
const LEGAL: typeof ILLEGAL = {
  pending: [
    'priority = 9',
    'attempt = 1, fence = 1',
    `overlap = 'queue', concurrency_group = 'l', readiness = 'blocked'`,
    `schedule_id = id, scheduled_at = due_at`,
  ],
  running: ['fence = fence + 1', `worker_id = ''`, 'lease_until = due_at', `concurrency_group = 'k', overlap = 'skip'`],
  ended: [`state = 'failed'`, `state = 'cancelled'`, `state = 'succeeded'`],
}

export const illegalRunsGroup: Group = (promise) => {
  promise(
    'refuses a run that contradicts itself',
    { kills: 'a run may contradict itself', needs: 'alter' },
    async ({ store, alter }) => {
      const ended = await running(store)
      await settled(store, ended, SUCCEEDED)
      const rows = { pending: await enqueued(store), running: (await running(store)).id, ended: ended.id }
      for (const state of ['pending', 'running', 'ended'] as const) {
        const row: Omit<Alteration, 'set'> = { table: state === 'ended' ? 'history' : 'runs', id: rows[state] }
        for (const set of ILLEGAL[state])
          await expect(alter({ ...row, set }), `${state}: ${set}`).rejects.toThrow(REFUSED)
        for (const set of LEGAL[state]) await alter({ ...row, set })
      }
    },
  )
}
