/** Computes what writing schedules adds to the quotas of their workspaces: new schedules, queues, tags, payload bytes, firing rate. */
import { type ScheduleDefinition, seedOf } from '../schedule/schedule.ts'
import { smallestGapMs } from '../schedule/smallest-gap.ts'
import type { Executor } from '../store/contract/executor.ts'
import type { Core } from './core.ts'
import { bytesOf } from './payload-bytes.ts'
import type { Draw } from './quota-check.ts'

/** How many schedules are read in parallel. */
const AT_ONCE = 50

export interface Drawing {
  /** Whether all of them are new; undefined when the store has to be queried. */
  readonly isNew: boolean | undefined
  readonly tx: Executor | undefined
}

export async function scheduleDraws(
  core: Core,
  definitions: readonly ScheduleDefinition[],
  drawing: Drawing,
): Promise<Draw[]> {
  const workspaces = [...new Set(definitions.map(({ workspace }) => workspace))]
  const draws: Draw[] = []
  for (const workspace of workspaces) {
    const limits = core.quotas.limits(workspace)
    if (limits === null) continue
    const some = definitions.filter((definition) => definition.workspace === workspace)
    draws.push({
      workspace,
      ...(limits.schedules === undefined ? {} : { schedules: await countNew(core, some, drawing) }),
      queues: some.map(({ queue }) => queue),
      tags: some.flatMap(({ tags }) => tags),
      payloadBytesPerDay: some.reduce((sum, each) => sum + (isSent(each) ? bytesOf(each.payload) : 0), 0),
      ...(limits.smallestInterval === undefined ? {} : { smallestInterval: smallestOf(core, some) }),
    })
  }
  return draws
}

/** Only API writes count: apps send their declared schedules again at every start. */
const isSent = ({ source }: ScheduleDefinition): boolean => source === 'api'

async function countNew(
  core: Core,
  definitions: readonly ScheduleDefinition[],
  { isNew, tx }: Drawing,
): Promise<number> {
  if (isNew !== undefined) return isNew ? definitions.length : 0
  const { schedules } = await core.store()
  let count = 0
  // A transaction uses one connection, which runs one query at a time.
  const step = tx ? 1 : AT_ONCE
  for (let from = 0; from < definitions.length; from += step) {
    const some = definitions.slice(from, from + step)
    const found = await Promise.all(some.map(({ workspace, key }) => schedules.get(workspace, key, tx)))
    count += found.filter((schedule) => schedule === null).length
  }
  return count
}

function smallestOf({ clock }: Core, definitions: readonly ScheduleDefinition[]): number {
  const fromAt = clock.now()
  return definitions.reduce(
    (least, each) => Math.min(least, smallestGapMs(each.timing, { seed: seedOf(each), fromAt })),
    Number.POSITIVE_INFINITY,
  )
}
