/** Random kill -9 of schedulers and workers: every occurrence is one run all the same. Longer: `npm run chaos -- 60`. */
import { afterEach, describe, expect, it } from 'vitest'
import { defineJob, everytick, schedule } from '../../src/index.ts'
import { audit, CLEAN, type Watched } from './audit.ts'
import { dice } from './dice.ts'
import { createFleet, type Fleet, type FleetRole, until } from './fleet.ts'
import { type ChaosStore, STORES } from './stores.ts'

const SECONDS = Number(process.env.CHAOS_SECONDS ?? 8)
const ROLES: readonly FleetRole[] = ['scheduler', 'scheduler', 'worker', 'worker', 'worker']

/** The processes have the real one; here it only gives the schedules a job to name. */
const reportPresence = defineJob({
  name: 'beat',
  retry: { attempts: 100, backoff: 'fixed', base: '50ms', max: '200ms' },
  run: () => {},
})
const keep = { job: reportPresence, catchUp: 'all', catchUpLimit: 100_000, overlap: 'allow' } as const

let fleet: Fleet | undefined
let opened: ChaosStore | undefined
afterEach(async () => {
  await fleet?.killAll()
  await opened?.close()
})

describe.each(Object.entries(STORES))('a fleet on %s under random kill -9', (_, openStore) => {
  it(`turns every occurrence into exactly one run, with the newest fence (${SECONDS} s)`, {
    timeout: (SECONDS + 90) * 1000,
  }, async () => {
    opened = await openStore()
    const { store, url } = opened
    // Long enough that most kills meet somebody at work.
    const { seed, roll } = dice()
    fleet = createFleet(() => url, { workMs: 600, seed })
    console.log(`kill -9: seed ${seed}`)
    const schedules = [
      ...Array.from({ length: 6 }, (_, i) => schedule({ key: `second-${i}`, every: '1s', ...keep })),
      ...Array.from({ length: 2 }, (_, i) => schedule({ key: `line-${i}`, every: '1s', ...keep, overlap: 'queue' })),
      ...Array.from({ length: 4 }, (_, i) =>
        schedule({ key: `cron-${i}`, cron: '*/2 * * * * *', timezone: 'Europe/Berlin', ...keep }),
      ),
      schedule({ key: 'three', every: '3s', ...keep }),
    ]
    const app = everytick({ store, jobs: [reportPresence] })
    const watched: Watched[] = []
    for (const one of schedules) {
      await app.schedules.upsert(one)
      const stored = (await store.schedules.get(one.workspace, one.key))!
      const when =
        one.timing.kind === 'cron' ? one.timing : { everyMs: one.timing.kind === 'interval' ? one.timing.everyMs : 0 }
      watched.push({ scheduleId: stored.id, when, sinceAt: stored.watermarkAt })
    }
    await Promise.all(ROLES.map((role) => fleet!.start(role).ready))
    const end = Date.now() + SECONDS * 1000
    let kills = 0
    while (Date.now() < end) {
      const victim = fleet.nodes[Math.floor(roll() * fleet.nodes.length)]!
      victim.process.kill('SIGKILL')
      kills++
      await victim.gone
      fleet.start(victim.role)
      await new Promise((resolve) => setTimeout(resolve, roll() * 600))
    }
    const untilAt = await store.now()
    const everything = async (): Promise<boolean> => {
      const live = await Promise.all(
        watched.map(({ scheduleId }) =>
          store.history.runs({ scheduleId, states: ['pending', 'running'] }, { limit: 200 }),
        ),
      )
      const planned = await Promise.all(schedules.map(({ workspace, key }) => store.schedules.get(workspace, key)))
      return (
        planned.every((one) => (one!.nextAt ?? untilAt + 1) > untilAt) &&
        live.flat().every(({ scheduledAt }) => scheduledAt! > untilAt)
      )
    }
    await until('every run up to the end of the storm has finished', everything)
    await fleet.killAll()
    const { expected, ...found } = await audit(store, watched, { untilAt, effects: fleet.effects() })
    console.log(`kill -9: ${kills} kills in ${SECONDS} s, ${expected} occurrences expected, each exactly one run`)
    expect(found).toEqual(CLEAN)
    expect(expected).toBeGreaterThan(SECONDS * 6)
    // Else nothing was tried: a fence that nobody needs protects from nothing.
    const taken = new Map<string, number>()
    for (const { id, fence } of fleet.effects()) taken.set(id, Math.max(fence, taken.get(id) ?? 0))
    const lost = [...taken.values()].filter((fence) => fence > 1).length
    console.log(`kill -9: ${lost} runs lost a lease`)
    expect(lost).toBeGreaterThan(0)
    expect(fleet.messages.filter(({ kind }) => kind === 'unhandled')).toEqual([])
  })
})
