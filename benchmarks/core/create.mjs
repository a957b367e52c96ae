/** How fast very many schedules are created, a thousand at a time by one client that has done so before; beside how many others they are put, the marks say. */
import { everytick } from 'everytick'
import { hourly, noop } from './load.mjs'
import { inGroups } from './turns.mjs'

const BATCH = 1000

export async function createRows(places, { createMarks }, note) {
  note(`creating ${createMarks.at(-1).toLocaleString('en')} schedules`)
  const place = await places.fresh()
  const store = await place.open()
  const app = everytick({ store, jobs: [noop] })
  try {
    let made = 0
    const some = (name) => (count) =>
      app.schedules.upsertMany(Array.from({ length: count }, () => hourly(name, made++)))
    // As in the race: what is compiled at first use does not count.
    await inGroups({ total: Math.ceil(createMarks[0] / 5), group: BATCH, inFlight: 2 }, some('warm-up'))
    made = 0
    const create = some('many')
    const startedAt = performance.now()
    const marks = []
    for (const mark of createMarks) {
      await inGroups({ total: mark - made, group: BATCH, inFlight: 2 }, create)
      marks.push({ mark, rate: (mark / (performance.now() - startedAt)) * 1000 })
    }
    return marks.map(({ mark, rate }) => ({
      id: `create-${mark}`,
      what: `create ${mark.toLocaleString('en')} schedules`,
      unit: '/s',
      ours: rate,
    }))
  } finally {
    await app.stop()
    await store.close()
    await place.drop()
  }
}
