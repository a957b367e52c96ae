/** What a planner's passes over stored schedules cost, one second of due schedules after the other; at which sizes, and beside what, the measurements decide. */
import { createPlanner } from '../../dist/engine/planner.js'

const alone = { leads: async () => true, release: async () => {} }

/** `stored` is what `stored.mjs` made, and remembers up to where it was planned. */
export function planningRounds(meter, stored) {
  let planned = 0
  const onEvent = (fact) => {
    if (fact.kind === 'schedule.planned') planned += fact.runs
  }
  const pass = (lookaheadMs) =>
    createPlanner({
      planning: meter.store.planning,
      failovers: meter.store.failovers,
      leadership: alone,
      lookaheadMs,
      onEvent,
    }).pass()
  const later = async (seconds) => {
    const lookaheadMs = (stored.plannedAt ?? stored.firstAt - 1) + seconds * 1000 - Date.now()
    await pass(lookaheadMs)
    // A pass looks ahead from the instant of each of its pages, and the last of many pages comes late on a busy machine.
    stored.plannedAt = Date.now() + lookaheadMs
  }
  return {
    /** Plans so many seconds more; nobody asks what that costs. */
    goOn: later,
    /** `{ fire, pass }`: for each fire of one second more, and for a pass that finds nothing, since all that is near was planned. */
    async turn() {
      planned = 0
      const fires = await meter.spent(() => later(1))
      if (planned === 0) throw new Error(`no schedule of ${stored.count} was due`)
      const fire = { us: perOne(fires.us, planned), pages: perOne(fires.pages, planned) }
      // The first look after fires clears away what they left in the index, which is their cost and none of the next look's.
      await pass(0)
      const nothing = await meter.spent(() => pass(0))
      return { fire, pass: { us: nothing.us, pages: nothing.pages } }
    },
  }
}

const perOne = (sum, count) => (sum === null ? null : sum / count)
