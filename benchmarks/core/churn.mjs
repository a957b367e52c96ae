/** Lets runs pass through a store by its own verbs, with all that they leave behind; nothing is timed here. */
import { newId, noop } from './load.mjs'
import { inGroups } from './turns.mjs'

const BATCH = 1000
const SUCCEEDED = { kind: 'final', state: 'succeeded', result: null }
const REQUEST = { workerId: 'churn', leaseMs: 60_000, wanted: [{ queue: 'default', limit: BATCH }] }

const newRun = () => ({
  id: newId(),
  workspace: 'default',
  job: noop.name,
  queue: noop.queue,
  trigger: 'enqueue',
  priority: noop.priority,
  payload: null,
  policy: noop.policy,
  schedule: null,
  due: { delayMs: 0 },
  slot: null,
  group: null,
  overlap: 'allow',
  idempotencyKey: null,
})

/** Leaves `count` runs pending. */
export const fill = (store, count) =>
  inGroups({ total: count, group: BATCH, inFlight: 1 }, (size) =>
    store.runs.enqueue(Array.from({ length: size }, newRun)),
  )

/** Enqueues, claims and settles until `count` runs more are finished. */
export const churn = (store, count) =>
  inGroups({ total: count, group: BATCH, inFlight: 2 }, async (size) => {
    await fill(store, size)
    const { runs } = await store.claims.claim(REQUEST)
    await settleAll(store, runs)
  })

/** Ends what was claimed to the worker `churn`. */
export const settleAll = (store, runs) =>
  store.claims.settle(
    runs.map(({ id, fence, claimId }) => ({ id, fence, claimId, workerId: REQUEST.workerId, verdict: SUCCEEDED })),
  )
