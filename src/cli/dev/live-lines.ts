/** Prints a line for each event while `dev` runs: the work of this process at once, and skipped or missed occurrences once they are recorded. */
import { createLoop } from '../../engine/loop.ts'
import type { EngineEvent } from '../../observe/engine-event.ts'
import type { Run } from '../../run/run.ts'
import type { Core } from '../../scheduler/core.ts'
import { nextFire } from '../../scheduler/schedule-view.ts'
import type { FeedEntry } from '../../store/contract/feed.ts'
import type { View } from '../print.ts'
import { durationText, type Line, lagText, lineText, nameOf, nextText, qualified, reasonText } from './line-text.ts'

export interface LiveLines {
  /** Prints the remaining lines. */
  stop(): Promise<void>
}

/** A run that ends within this time gets one line. */
const ONE_LINE_MS = 50
const POLL_MS = 400
/** A row may be committed this long after its timestamp. */
const LATE_MS = 2000

type Ended = Extract<
  EngineEvent,
  { kind: 'run.succeeded' | 'run.failed' | 'run.retry' | 'run.cancelled' | 'run.handed_over' }
>

export function liveLines(core: Core, view: View, write: (text: string) => void): LiveLines {
  const { clock, timers } = core
  /** Starts that are not printed yet. */
  const leased = new Map<string, { readonly at: number; readonly forget: () => void }>()
  let last: Promise<void> = Promise.resolve()
  const tell = (line: Line | Promise<Line>): void => {
    // In the order of the events, although some lines need a store request first.
    last = last.then(async () => write(lineText(await line, view))).catch(() => {})
  }

  const nextOf = async ({ schedule, workspace }: Run): Promise<string> => {
    const stored = schedule && (await (await core.store()).schedules.get(workspace, schedule.key))
    return nextText((stored && nextFire(stored, clock.now()).nextFireAt?.getTime()) ?? null)
  }

  const onStart = (run: Run, at: number): void => {
    const forget = timers.set(ONE_LINE_MS, () => {
      leased.delete(run.id)
      const caughtUp = run.trigger === 'catch_up' ? 'caught up' : ''
      tell({ at, sign: 'start', name: nameOf(run), parts: [`#${run.attempt}`, lagText(at, run.dueAt), caughtUp] })
    })
    leased.set(run.id, { at, forget })
  }

  const onEnd = (fact: Ended): void => {
    const { run } = fact
    const start = leased.get(run.id)
    start?.forget()
    leased.delete(run.id)
    const begun = start ? [`#${run.attempt}`, lagText(start.at, run.dueAt)] : []
    const line = { at: clock.now(), name: nameOf(run) }
    const took = 'durationMs' in fact ? durationText(fact.durationMs) : ''
    if (fact.kind === 'run.succeeded')
      tell(nextOf(run).then((next) => ({ ...line, sign: 'end', parts: [...begun, took, next] })))
    else tell({ ...line, ...endingOf(fact, begun) })
  }

  const forget = core.hub.onEvent((fact) => {
    if (fact.kind === 'run.started') onStart(fact.run, fact.at)
    else if (ENDS.has(fact.kind)) onEnd(fact as Ended)
    else {
      const line = otherLine(fact, clock.now())
      if (line) tell(line)
    }
  })
  const following = followNonRuns(core, tell)
  return {
    async stop() {
      forget()
      await following.stop()
      for (const { forget } of leased.values()) forget()
      await last
    },
  }
}

/** The line of a run that ended without success. */
function endingOf(
  fact: Exclude<Ended, { kind: 'run.succeeded' }>,
  begun: readonly string[],
): Pick<Line, 'sign' | 'parts'> {
  const first = (text: string): string => text.split('\n', 1)[0]!
  switch (fact.kind) {
    case 'run.failed': {
      const { run, error, durationMs } = fact
      return { sign: 'fail', parts: [...begun, durationText(durationMs), first(error.message), `run ${run.id}`] }
    }
    case 'run.retry': {
      const why = fact.error ? first(fact.error.message) : fact.reason
      const which = begun.length > 0 ? begun : [`#${fact.run.attempt}`]
      return { sign: 'again', parts: [...which, why, `again in ${durationText(fact.delayMs)}`] }
    }
    case 'run.cancelled':
      return { sign: 'stop', parts: [...begun, 'cancelled'] }
    case 'run.handed_over':
      return { sign: 'again', parts: [...begun, 'handed over', `run ${fact.run.id}`] }
  }
}

const ENDS: ReadonlySet<string> = new Set<Ended['kind']>([
  'run.succeeded',
  'run.failed',
  'run.retry',
  'run.cancelled',
  'run.handed_over',
])

function otherLine(fact: EngineEvent, at: number): Line | null {
  switch (fact.kind) {
    case 'run.log': {
      const data = fact.data === undefined ? '' : JSON.stringify(fact.data)
      const level = fact.level === 'info' ? '' : fact.level
      return { at, sign: 'log', name: nameOf(fact.run), parts: [level, fact.message, data] }
    }
    case 'run.refused':
      return { at, sign: 'stop', name: nameOf(fact.run), parts: ['late result rejected'] }
    case 'run.lease_lost':
      return { at, sign: 'stop', name: nameOf(fact.run), parts: ['lost its lease'] }
    case 'job.unknown':
      return { at, sign: 'again', name: nameOf(fact.run), parts: [`this process has no job ${fact.run.job}`] }
    case 'schedule.quarantined':
      return { at, sign: 'fail', name: fact.key, parts: ['quarantined', fact.message] }
    case 'schedule.paused':
      return { at, sign: 'stop', name: qualified(fact.workspace, fact.key), parts: ['paused', fact.reason] }
    case 'engine.error': {
      const again = `again in ${durationText(fact.retryInMs)}`
      return { at, sign: 'fail', name: fact.where, parts: [String(fact.error), again] }
    }
    default:
      return null
  }
}

/** No process emits an event for an occurrence that did not run, so read its row. */
function followNonRuns(core: Core, tell: (line: Line | Promise<Line>) => void): { stop(): Promise<void> } {
  const seen = new Map<string, number>()
  const names = new Map<string, string>()
  let from: number | null = null
  const nameOfId = async (id: string): Promise<string> => {
    const known = names.get(id)
    if (known !== undefined) return known
    const found = await (await core.store()).schedules.byId(id)
    const name = found ? qualified(found.workspace, found.key) : id
    names.set(id, name)
    return name
  }
  const lineOf = async (entry: Extract<FeedEntry, { kind: 'non_run' }>): Promise<Line> => {
    const { at, state, reason, count, scheduleId } = entry
    const many = count > 1 ? `${count} in a row` : ''
    const parts = [`${state}: ${reasonText(reason)}`, many]
    return { at, sign: state === 'skipped' ? 'skip' : 'miss', name: await nameOfId(scheduleId), parts }
  }
  const loop = createLoop({
    timers: core.timers,
    async pass() {
      const store = await core.store()
      const now = await store.now()
      from ??= now
      const page = await store.feed.between({ afterAt: Math.max(from, now - LATE_MS), untilAt: now }, { limit: 1000 })
      for (const entry of page) {
        const id = `${entry.at} ${entry.kind} ${entry.id}`
        if (entry.kind !== 'non_run' || seen.has(id)) continue
        seen.set(id, entry.at)
        tell(lineOf(entry))
      }
      for (const [id, at] of seen) if (at < now - 2 * LATE_MS) seen.delete(id)
      return POLL_MS
    },
    onError() {},
  })
  loop.start()
  return { stop: () => loop.stop() }
}
