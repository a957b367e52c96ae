/** Pauses a schedule whose last runs all failed, where its policy asks for that, or whose work asked for it by giving up; failures are on record, so any process can tell. */
import type { EngineEvent } from '../observe/engine-event.ts'
import type { Run } from '../run/run.ts'
import type { SlotRun } from '../store/contract/history.ts'
import type { Store } from '../store/contract/store.ts'

const PAGE = 1000
/** How much further back each look reaches than the one before. */
const WIDER = 8
/** Where the past has no slot before, so that there is no step to measure by. */
const DAY_MS = 86_400_000

export interface FailurePauseOptions {
  readonly store: Pick<Store, 'history' | 'schedules' | 'now'>
  readonly onEvent: (fact: EngineEvent) => void
}

export interface FailurePause {
  /**
   * To be called when a run has failed for good; `reason` where its work asked for the pause. A process that dies before
   * it is called leaves the schedule active: its next run meets the same, and asks again.
   */
  failed(run: Run, reason?: string): Promise<void>
}

/** What speaks for or against a schedule: a backfill is somebody's errand, and a cancelled run says nothing. */
const counts = ({ state, trigger }: SlotRun): boolean =>
  trigger !== 'backfill' && (state === 'succeeded' || state === 'failed')

export function createFailurePause({ store, onEvent }: FailurePauseOptions): FailurePause {
  const { history, schedules } = store

  const slotsIn = async (scheduleId: string, span: { afterAt: number; untilAt: number }): Promise<SlotRun[]> => {
    const found: SlotRun[] = []
    for (let afterAt = span.afterAt; ; ) {
      const page = await history.slots(scheduleId, { ...span, afterAt }, PAGE)
      found.push(...page.filter(counts))
      if (page.length < PAGE) return found
      afterAt = page.at(-1)!.scheduledAt
    }
  }

  /** The last `count` that ended, by nominal instant; fewer when there are fewer. */
  const lastOf = async (run: Run, count: number): Promise<SlotRun[]> => {
    const at = run.scheduledAt!
    const stepMs = run.slotStartAt === null ? DAY_MS : Math.max(1, at - run.slotStartAt)
    const found: SlotRun[] = []
    let untilAt = Math.max(await store.now(), at)
    for (let widthMs = stepMs * (count + 1); found.length < count && untilAt > 0; widthMs *= WIDER) {
      const afterAt = Math.max(0, Math.min(untilAt, at) - widthMs)
      found.unshift(...(await slotsIn(run.schedule!.id, { afterAt, untilAt })))
      untilAt = afterAt
    }
    return found.slice(-count)
  }

  const pause = async (run: Run, reason: string, revision?: number): Promise<void> => {
    const { id, key } = run.schedule!
    const schedule = await schedules.get(run.workspace, key)
    if (!schedule || schedule.id !== id || schedule.pause) return
    if (revision !== undefined && schedule.revision !== revision) return
    const words = { reason, by: 'everytick' }
    if (!(await schedules.pause(run.workspace, key, { ...words, until: null }))) return
    onEvent({ kind: 'schedule.paused', scheduleId: id, workspace: run.workspace, key, ...words })
  }

  /** How often in a row it failed, when that is as often as its policy allows. */
  const failedTooOften = async (run: Run): Promise<number | null> => {
    const count = run.policy.pauseOnFailure
    if (count === undefined || run.scheduledAt === null) return null
    const last = await lastOf(run, count)
    if (last.length < count || last.some(({ state }) => state !== 'failed')) return null
    // Who resumes it gives it a new series: what failed before was what they looked into.
    const resumed = (await history.definitions(run.schedule!.id)).findLast(({ kind }) => kind === 'resumed')
    return resumed && last.some(({ finishedAt }) => finishedAt! <= resumed.at) ? null : count
  }

  return {
    async failed(run, reason) {
      if (!run.schedule || run.trigger === 'backfill') return
      // What an older definition met is no word against the present one.
      if (reason !== undefined) return pause(run, reason, run.schedule.revision)
      const count = await failedTooOften(run)
      if (count !== null) await pause(run, `failed ${count} times in a row`)
    },
  }
}
