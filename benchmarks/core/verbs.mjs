/** What the verbs of a store reach, each beside the least SQL that does the same: enqueue, claim, settle, create and fire. */
import { everytick } from 'everytick'
import { createPlanner } from '../../dist/engine/planner.js'
import { hourly, newIds, noop } from './load.mjs'
import { inGroups, perSecond, rateRow, turns } from './turns.mjs'

const BATCH = 1000
const CALLERS = 64
const HOUR_MS = 3_600_000
const SUCCEEDED = { kind: 'final', state: 'succeeded', result: null }

export async function verbRows(places, size, note) {
  const place = await places.fresh()
  const store = await place.open()
  const limit = await place.limit()
  const app = everytick({ store, jobs: [noop] })
  const at = { store, limit, app, size }
  try {
    const rows = []
    for (const measure of [enqueueRows, claimRows, scheduleRows]) {
      note(measure.what)
      rows.push(...(await measure.run(at)))
    }
    return rows
  } finally {
    await app.stop()
    await store.close()
    await limit.close()
    await place.drop()
  }
}

const enqueueRows = {
  what: 'enqueue, in bulk and one by one',
  async run({ app, limit, size }) {
    const bulk = { total: size.bulk, group: BATCH, inFlight: 2 }
    const inBulk = await turns(
      {
        ours: () =>
          perSecond(size.bulk, () =>
            inGroups(bulk, (count) =>
              app.enqueueMany(
                noop,
                Array.from({ length: count }, () => ({})),
              ),
            ),
          ),
        limit: () => perSecond(size.bulk, () => inGroups(bulk, (count) => limit.insert(newIds(count)))),
      },
      size.rounds,
    )
    /** What callers ask for at the same time could at best be written together. */
    const byOne = (callers, total) =>
      turns(
        {
          ours: () => perSecond(total, () => inGroups({ total, group: 1, inFlight: callers }, () => app.enqueue(noop))),
          limit: () =>
            perSecond(total, () =>
              inGroups({ total, group: callers, inFlight: 1 }, (count) => limit.insert(newIds(count))),
            ),
        },
        size.rounds,
      )
    const [alone, together] = [await byOne(1, size.single), await byOne(CALLERS, size.single * CALLERS)]
    return [
      rateRow({ id: 'enqueue-bulk', what: 'enqueue, 1,000 at a time' }, inBulk.rate),
      rateRow({ id: 'enqueue-single', what: 'enqueue, one at a time' }, alone.rate),
      rateRow({ id: 'enqueue-callers', what: `enqueue, one at a time, ${CALLERS} callers` }, together.rate),
    ]
  },
}

/** Goes through what was enqueued before. */
const claimRows = {
  what: 'claim and settle',
  async run({ store, limit, size }) {
    const round = async (claim, settle) => {
      let [claimMs, settleMs] = [0, 0]
      for (let done = 0; done < size.bulk; done += BATCH) {
        const startedAt = performance.now()
        const granted = await claim()
        const claimedAt = performance.now()
        await settle(granted)
        claimMs += claimedAt - startedAt
        settleMs += performance.now() - claimedAt
      }
      return { claim: (size.bulk / claimMs) * 1000, settle: (size.bulk / settleMs) * 1000 }
    }
    const request = { workerId: 'bench', leaseMs: 15_000, wanted: [{ queue: 'default', limit: BATCH }] }
    const settlements = (runs) =>
      runs.map(({ id, fence, claimId }) => ({ id, fence, claimId, workerId: 'bench', verdict: SUCCEEDED }))
    const { claim, settle } = await turns(
      {
        ours: () =>
          round(
            async () => (await store.claims.claim(request)).runs,
            (runs) => store.claims.settle(settlements(runs)),
          ),
        limit: () => round(() => limit.claim(BATCH), limit.finish),
      },
      size.rounds,
    )
    return [
      rateRow({ id: 'claim', what: 'claim, 1,000 at a time' }, claim),
      rateRow({ id: 'settle', what: 'settle, 1,000 at a time' }, settle),
    ]
  },
}

const scheduleRows = {
  what: 'create schedules and fire them, planner alone',
  async run({ store, limit, app, size }) {
    const total = size.schedules
    const groups = { total, group: BATCH, inFlight: 2 }
    const claimFair = { ...groups, inFlight: 1 }
    const alone = { leads: async () => true, release: async () => {} }
    let planned = 0
    const onEvent = (fact) => {
      if (fact.kind === 'schedule.planned') planned += fact.runs
    }
    // Every schedule has one occurrence in the hour to come, and after that none.
    const planner = createPlanner({
      planning: store.planning,
      failovers: store.failovers,
      leadership: alone,
      lookaheadMs: HOUR_MS,
      onEvent,
    })
    const found = await turns(
      {
        async ours(round) {
          let made = 0
          const create = (count) => app.schedules.upsertMany(Array.from({ length: count }, () => hourly(round, made++)))
          const created = await perSecond(total, () => inGroups(groups, create))
          planned = 0
          const fires = await perSecond(total, () => planner.pass())
          if (planned < total) throw new Error(`${planned} of ${total} schedules were fired`)
          return { create: created, fires }
        },
        async limit() {
          await inGroups(claimFair, (count) => limit.schedule(newIds(count)))
          const fire = async (count) => {
            if ((await limit.fire(count, newIds(count))) < count)
              throw new Error('the limit found too few schedules due')
          }
          return { fires: await perSecond(total, () => inGroups(claimFair, fire)) }
        },
      },
      size.rounds,
    )
    return [
      rateRow({ id: 'create', what: 'create schedules, 1,000 at a time' }, found.create),
      rateRow({ id: 'fires', what: 'fires, planner alone' }, found.fires),
    ]
  },
}
