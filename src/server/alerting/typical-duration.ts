/** The typical duration of a job in one workspace, from its own runs only, so that workspaces do not see each other's durations. Cached between passes. */
import { ownJob } from '../../observe/alert-condition.ts'
import type { TypicalDuration } from './memory.ts'
import type { Snapshot } from './snapshot.ts'

/** The number of newest runs to sample. */
const NEWEST = 200
/** The most durations to read per pass, and the age at which one is read again. */
const READ_AT_ONCE = 5
const FRESH_MS = 600_000
const MAX_REMEMBERED = 5000
const UNKNOWN: TypicalDuration = { medianMs: 0, p95Ms: 0, count: 0, readAt: 0 }

export async function typicalDuration(
  { store, now, memory }: Pick<Snapshot, 'store' | 'now' | 'memory'>,
  { workspace, job }: { readonly workspace: string; readonly job: string },
): Promise<TypicalDuration> {
  const { typical } = memory
  const name = ownJob({ workspace, job })
  const known = typical.get(name)
  const isFresh = known !== undefined && now - known.readAt < FRESH_MS
  const readNow = [...typical.values()].filter(({ readAt }) => readAt === now).length
  if (isFresh || readNow >= READ_AT_ONCE) return known ?? UNKNOWN
  const { runs } = await store.history.find({ workspace, job, states: ['succeeded'] }, { limit: NEWEST })
  const tookMs = runs.flatMap(({ startedAt, finishedAt }) =>
    startedAt === null || finishedAt === null ? [] : finishedAt - startedAt,
  )
  tookMs.sort((a, b) => a - b)
  const p95Ms = tookMs[Math.ceil(tookMs.length * 0.95) - 1] ?? 0
  const medianMs = tookMs[Math.floor(tookMs.length / 2)] ?? 0
  const read: TypicalDuration = { medianMs, p95Ms, count: tookMs.length, readAt: now }
  typical.delete(name)
  typical.set(name, read)
  for (const each of typical.keys()) {
    if (typical.size <= MAX_REMEMBERED) break
    typical.delete(each)
  }
  return read
}
