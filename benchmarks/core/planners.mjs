/** How fast several planner processes that share the schedules plan, beside one process in the same minute; planning inside one process is measured in `verbs.mjs`. */
import { tickJob } from './load.mjs'
import { startProcess } from './processes.mjs'
import { DAY_MS } from './seeding.mjs'
import { turns } from './turns.mjs'

const HOUR_MS = 3_600_000
const PLANNERS = 2

export async function plannerRows(places, { schedules, rounds }, note) {
  // One writer at a time: sharded planners are one planner there.
  if (places.kind !== 'postgres') return []
  const place = await places.fresh()
  const planners = []
  try {
    for (let i = 0; i < PLANNERS; i++) planners.push(await startProcess({ address: place.address, concurrency: 1 }))
    let group = 0
    const rate = (count) => async () => {
      note(`fires of ${count} planner${count === 1 ? '' : 's'}`)
      const firstAt = Date.now() + HOUR_MS / 2
      await place.seed({ count: schedules, everyMs: DAY_MS, firstAt, spreadMs: 1000, job: tickJob([]), group: ++group })
      const startedAt = performance.now()
      const planned = await Promise.all(
        planners
          .slice(0, count)
          .map((planner, index) => planner.ask('plan', { shard: { index, count }, lookaheadMs: HOUR_MS })),
      )
      const seconds = (performance.now() - startedAt) / 1000
      const sum = planned.reduce((all, each) => all + each, 0)
      if (sum !== schedules) throw new Error(`${sum} of ${schedules} schedules were fired`)
      return schedules / seconds
    }
    const found = await turns({ ours: rate(PLANNERS), limit: rate(1) }, rounds)
    const { ours, limit, ratio } = found.rate
    const what = `fires, ${PLANNERS} planners that share the schedules`
    return [{ id: `fires-${PLANNERS}`, what, unit: '/s', ours, rivals: { 'one planner': { value: limit, ratio } } }]
  } finally {
    for (const planner of planners) await planner.end()
    await place.drop()
  }
}
