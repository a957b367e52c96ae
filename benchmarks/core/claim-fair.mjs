/** What claiming and settling runs costs, turn by turn; in which system, and beside which, the measurements decide. */
import { fill, settleAll } from './churn.mjs'

/** Runs of one claim. */
export const EACH = 100
const REQUEST = { workerId: 'churn', leaseMs: 60_000, wanted: [{ queue: 'default', limit: EACH }] }

/**
 * A turn fills in `claims` times a hundred runs, claims them with the store that is metered, and settles them. With
 * `others`, another store, filling and settling is theirs and costs nothing here: the metered one only claims.
 */
export function claimFair(meter, { claims, others = null }) {
  const runs = claims * EACH
  const perRun = ({ databaseUs, pages }) => ({
    us: databaseUs === null ? null : databaseUs / runs,
    pages: pages === null ? null : pages / runs,
  })
  return {
    runs,
    /** `{ claim, settle }`, each for one run: CPU of the database, and pages. */
    async turn() {
      await fill(others ?? meter.store, runs)
      const granted = []
      const claim = await meter.spent(async () => {
        for (let i = 0; i < claims; i++) granted.push((await meter.store.claims.claim(REQUEST)).runs)
      })
      const all = granted.flat()
      if (all.length !== runs) throw new Error(`${all.length} of ${runs} runs were granted`)
      if (others !== null) {
        await settleAll(others, all)
        return { claim: perRun(claim) }
      }
      const settle = await meter.spent(async () => {
        for (const group of granted) await settleAll(meter.store, group)
      })
      return { claim: perRun(claim), settle: perRun(settle) }
    },
  }
}
