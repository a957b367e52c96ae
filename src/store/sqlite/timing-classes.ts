/** Reads, from SQLite, which schedules fire alike, a stretch of rows at a time; what they will fire is for others to compute. */
import { setImmediate as turn } from 'node:timers/promises'
import type { TimingClass } from '../../observe/timing-class.ts'
import type { Jitter, TimingSpec } from '../../schedule/schedule.ts'
import type { Connection } from './connection.ts'

/** So many rows are read in one go: a few milliseconds. */
export const STRETCH_ROWS = 2000
const MINUTE_MS = 60_000

/** Each as text without names, since most are only compared; all of them as one text. */
export const STRETCH = `
  select max(place) as last, json_group_array(json_array(timing, firing, job, workspace, "key")) as "rows" from (
    select rowid as place, timing, firing, job, workspace, key from everytick_schedules
    where rowid > ? and pause is null and quarantine is null and (? is null or workspace = ?) order by rowid limit ${STRETCH_ROWS})`

type Row = readonly [timing: string, firing: string, job: string, workspace: string, key: string]

export async function classesOf(connection: Connection, workspace?: string): Promise<TimingClass[]> {
  const found = new Map<string, { count: number; readonly row: Row }>()
  const jitters = new Map<string, string>()
  const jitterText = (firing: string): string => {
    const known = jitters.get(firing) ?? JSON.stringify((JSON.parse(firing) as { jitter: Jitter | null }).jitter)
    if (jitters.size < 1000) jitters.set(firing, known)
    return known
  }
  for (let last: number | null = 0; last !== null; ) {
    const [stretch] = await connection.read(() =>
      connection.all<{ last: number | null; rows: string }>(STRETCH, last, workspace ?? null, workspace ?? null),
    )
    for (const row of JSON.parse(stretch?.rows ?? '[]') as Row[]) {
      const name = `${row[2]}\0${jitterText(row[1])}\0${timingName(row[0])}`
      const uniform = found.get(name)
      if (uniform) uniform.count += 1
      else found.set(name, { count: 1, row })
    }
    last = stretch?.last ?? null
    await turn()
  }
  return [...found.values()].map(({ count, row: [timing, firing, job, of, key] }) => {
    const { jitter } = JSON.parse(firing) as { jitter: Jitter | null }
    return { timing: JSON.parse(timing) as TimingSpec, jitter, job, count, sample: { workspace: of, key } }
  })
}

const INTERVAL = /^\{"kind":"interval","everyMs":(\d+),"anchorAt":(-?\d+)\}$/
const ONCE = /^\{"kind":"once","at":(-?\d+)\}$/

/** The same for timings that count as alike: of plain intervals and single instants only the minute matters. */
function timingName(timing: string): string {
  const interval = INTERVAL.exec(timing)
  if (interval) {
    const [everyMs, anchorAt] = [Number(interval[1]), Number(interval[2])]
    return `${everyMs}/${Math.floor((((anchorAt % everyMs) + everyMs) % everyMs) / MINUTE_MS)}`
  }
  const once = ONCE.exec(timing)
  return once ? `at ${Math.floor(Number(once[1]) / MINUTE_MS)}` : timing
}
