/** What a process that plans and works costs while nothing is due, by the number of stored schedules. */
import { setTimeout as delay } from 'node:timers/promises'
import { median } from '../harness.mjs'
import { CONCURRENCY } from './load.mjs'
import { shareOfCore, startProcess } from './processes.mjs'

const MB = 2 ** 20

/** The sizes take turns (A, B, C, A, B, C), each time with a process of its own. */
export async function idleRows(places, size, note) {
  const { idleSchedules, idleRounds, idleMs } = size
  const seen = new Map(idleSchedules.map((count) => [count, []]))
  for (const count of idleSchedules) await places.stored(count)
  for (let round = 0; round < idleRounds; round++) {
    for (const count of idleSchedules) {
      const { place } = await places.stored(count)
      note(
        `idle with ${count.toLocaleString('en')} schedules for ${idleMs / 1000} s, round ${round + 1} of ${idleRounds}`,
      )
      seen.get(count).push(await idle(place, size))
    }
  }
  const found = [...seen].map(([count, turns]) => ({ count, ...middleOf(turns) }))
  const [few, many] = [found[0], found.at(-1)]
  const rows = found.flatMap(rowsOf)
  return few === many ? rows : [...rows, growthRow(few, many)]
}

/** Turns are of equal length: the mean of the shares is the share of the whole time. */
function middleOf(turns) {
  const mean = (name) => turns.reduce((sum, turn) => sum + turn[name], 0) / turns.length
  return {
    own: mean('own'),
    server: turns[0].server === null ? null : mean('server'),
    rss: median(turns.map(({ rss }) => rss)),
  }
}

async function idle(place, { settleMs, idleMs }) {
  const process = await startProcess({ address: place.address, concurrency: CONCURRENCY })
  try {
    await process.ask('start')
    // The runtime compiles and collects for ten seconds and more after a start.
    await delay(settleMs)
    const share = await shareOfCore(process, place, idleMs)
    const { rss } = await process.ask('usage')
    await process.ask('stop')
    return { ...share, rss }
  } finally {
    await process.end()
  }
}

function rowsOf({ count, own, server, rss }) {
  const row = (part, about) => ({ id: `idle-${count}-${part}`, unit: '%', ...about })
  return [
    row('cpu', { what: `idle with ${count.toLocaleString('en')} schedules, CPU`, ours: own }),
    ...(server === null ? [] : [row('server', { what: '  CPU of the server', ours: server })]),
    row('memory', { what: '  memory', unit: 'MB', ours: rss / MB }),
  ]
}

const growthRow = (few, many) => ({
  id: 'idle-memory-growth',
  what: `  memory, as much as with ${few.count.toLocaleString('en')}`,
  unit: 'times',
  ours: many.rss / few.rss,
})
