/** The ledger under random edits, pauses, outages, slow runs and crashes: nothing lost, nothing doubled, nothing unexplained. */
import { expect, it } from 'vitest'
import { startedIn } from '../../src/testing/test-everytick.ts'
import { announce, SEED } from '../time/seed.ts'
import { PLACES } from './places.ts'
import { born, dice, type Life, pass, step, type Theatre } from './random-life.ts'
import { createStage, overlaps } from './stage.ts'

/** Each schedule of a world lives a sequence of its own; what happens to all of them is time and crashes. */
const SCHEDULES = 125
const STEPS = 7
const WORLDS = { SQLite: Number(process.env.LEDGER_WORLDS ?? 17), Postgres: 1 }
/** A few hours before clocks change in Europe. */
const START = Date.parse('2027-03-27T20:00:30Z')

announce('random lives')

async function live(open: (typeof PLACES)['SQLite'], seed: number): Promise<void> {
  const random = dice(seed)
  const place = await open(START + random.below(8 * 3600) * 1000)
  const startAt = place.clock.now()
  const stage = createStage(place.clock)
  const t = await startedIn(place, { jobs: [stage.job], queues: { default: 500 } })
  const theatre: Theatre = { t, stage, random }
  const lives: Life[] = []
  const times: string[] = []
  try {
    for (let i = 0; i < SCHEDULES; i++) lives.push(await born(theatre, `s${i}`))
    for (let i = 0; i < STEPS; i++) {
      for (const life of lives) await step(theatre, life)
      times.push(`${new Date(place.clock.now()).toISOString()} ${await pass(theatre)}`)
    }
    stage.lengthMs = 0
    stage.failing = false
    await t.advance('2m')
    const report = await t.app.audit({ from: new Date(startAt - 3_600_000), to: new Date(place.clock.now()) })
    if (!report.ok) {
      const keys = new Set([...report.lost, ...report.doubled, ...report.unexplained].map(({ key }) => key))
      const stories = lives
        .filter(({ key }) => keys.has(key))
        .slice(0, 3)
        .map(({ key, log }) => `${key}\n${log.join('\n')}`)
      throw new Error(
        `seed ${seed}: ${JSON.stringify(report, null, 1)}\n${stories.join('\n\n')}\n\n${times.join('\n')}`,
      )
    }
    expect(report.expected).toBeGreaterThan(0)
    const alone = new Set(lives.filter(({ mayOverlap }) => !mayOverlap).map(({ key }) => key))
    const works = stage.works.filter(({ schedule }) => alone.has(schedule))
    expect(overlaps(works, place.clock.now()), `seed ${seed}`).toEqual([])
  } finally {
    await Promise.allSettled([t[Symbol.asyncDispose](), place.close()])
  }
}

it.each(Object.entries(WORLDS))(
  `audits to zero on %s after random lives (seed ${SEED}, ${SCHEDULES} sequences a world, %i worlds)`,
  { timeout: 300_000 },
  async (name, worlds) => {
    const open = PLACES[name as keyof typeof PLACES]
    for (let world = 0; world < worlds; world++) await live(open, SEED + world)
  },
)
