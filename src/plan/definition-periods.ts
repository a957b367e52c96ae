/** Derives from the revisions of a schedule which definition each occurrence belongs to, and when it was paused; `audit.ts` and `why.ts` use it. */
import type { Json } from '../json.ts'
import { type Schedule, type ScheduleDefinition, seedOf } from '../schedule/schedule.ts'
import { type Slots, slotsOf } from '../schedule/slots.ts'

/** One change of a schedule: who, when, and how it was before and after. */
export interface Change {
  readonly kind: 'edited' | 'paused' | 'resumed' | 'removed'
  /** Of the definition after the change. */
  readonly revision: number
  readonly at: number
  readonly by: string
  /** Occurrences up to here were the definition's before the change, later ones are that after it. */
  readonly cutAt: number
  /** `edited`: the definition, without workspace and key. `paused` and `resumed`: `{ pause }`. `removed`: the definition, and null after. */
  readonly before: Json
  readonly after: Json
}

export type PeriodDefinition = Pick<ScheduleDefinition, 'timing' | 'firing'>

/** The nominal instants with afterAt < instant <= untilAt are those of one definition. */
export interface DefinitionPeriod {
  readonly afterAt: number
  readonly untilAt: number
  /** The first revision that has this definition. */
  readonly revision: number
  /** When it was saved, and by which actor. */
  readonly at: number
  readonly by: string
  readonly definition: PeriodDefinition
}

export interface PausedSpan {
  readonly fromAt: number
  /** Null while it lasts. */
  readonly toAt: number | null
  readonly by: string
  readonly reason: string
}

export interface DefinitionPeriods {
  /** Oldest first, at least one; a definition period that an edit took back before it had an occurrence is empty, and stays for its revision. */
  readonly list: readonly DefinitionPeriod[]
  readonly pauses: readonly PausedSpan[]
  /** Whether every change since the creation is known; otherwise the first definition period begins where knowledge does. */
  readonly complete: boolean
}

/** As many revisions as a store answers. */
const MAX_CHANGES = 1000

/** `forgottenAt`: changes before this may have left the store. */
export function definitionPeriods(
  schedule: Schedule,
  changes: readonly Change[],
  forgottenAt: number,
): DefinitionPeriods {
  // What came after the schedule was read belongs to a definition that nobody has looked at yet.
  const known = changes.filter(({ revision }) => revision <= schedule.revision)
  const edits = known.filter(({ kind }) => kind === 'edited')
  const isAll = changes.length < MAX_CHANGES
  const complete = isAll && (schedule.createdAt >= forgottenAt || edits.length >= schedule.revision - 1)
  const knownAt = complete ? schedule.sinceAt : isAll ? forgottenAt : (known[0]?.at ?? schedule.updatedAt)
  const firstAt = Math.max(schedule.sinceAt, knownAt)
  const cuts = [firstAt, ...edits.map(({ cutAt }) => Math.max(cutAt, firstAt))]
  const list = cuts.map((afterAt, i): DefinitionPeriod => {
    const edit = edits[i - 1]
    // An edit can take back what lies after its cut from all before it.
    const untilAt = Math.max(afterAt, Math.min(...cuts.slice(i + 1), Number.POSITIVE_INFINITY))
    return {
      ...{ afterAt, untilAt, definition: i === edits.length ? schedule : definitionIn(edits[i]!.before) },
      ...{ revision: edit?.revision ?? 1, at: edit?.at ?? schedule.createdAt, by: edit?.by ?? schedule.createdBy },
    }
  })
  return { list, pauses: pausesOf(known), complete }
}

/** Stores keep definitions as they were given, so that what they hand back is one. */
const definitionIn = (stored: Json): PeriodDefinition => stored as unknown as PeriodDefinition

interface PauseInput {
  readonly by: string
  readonly reason: string
  readonly until: number | null
}

function pausesOf(changes: readonly Change[]): PausedSpan[] {
  const pauses: PausedSpan[] = []
  let until: number | null = null
  const end = (at: number): void => {
    const last = pauses.at(-1)
    if (last && last.toAt === null) pauses[pauses.length - 1] = { ...last, toAt: Math.min(at, until ?? at) }
  }
  for (const { kind, at, by, after } of changes) {
    if (kind !== 'paused' && kind !== 'resumed') continue
    end(at)
    if (kind === 'resumed') continue
    const words = (after as unknown as { readonly pause: PauseInput | null } | null)?.pause
    pauses.push({ fromAt: at, toAt: null, by: words?.by ?? by, reason: words?.reason ?? '' })
    until = words?.until ?? null
  }
  return pauses
}

/** The occurrences of a schedule through all its definition periods. */
export interface Timeline extends Pick<Slots, 'nextAt' | 'prevAt' | 'countAt' | 'countableUntil'> {
  isSlot(at: number): boolean
  periodAt(at: number): DefinitionPeriod | null
  /** The definition that a revision had, whatever definition period it is in. */
  ofRevision(revision: number): Slots
  slotsIn(period: DefinitionPeriod): Slots
}

/** Timings are read when first asked about; one that cannot be read throws then. */
export function timelineOf(
  { list }: DefinitionPeriods,
  named: { readonly workspace: string; readonly key: string },
): Timeline {
  const seed = seedOf(named)
  const read = new Map<DefinitionPeriod, Slots>()
  const slotsIn = (period: DefinitionPeriod): Slots => {
    const slots = read.get(period) ?? slotsOf(period.definition.timing, seed)
    read.set(period, slots)
    return slots
  }
  const spans = list.filter(({ afterAt, untilAt }) => afterAt < untilAt)
  const nextAt = (after: number): number | null => {
    for (const period of spans) {
      if (period.untilAt <= after) continue
      const at = slotsIn(period).nextAt(Math.max(after, period.afterAt))
      if (at !== null && at <= period.untilAt) return at
    }
    return null
  }
  return {
    nextAt,
    prevAt(before) {
      for (const period of spans.toReversed()) {
        if (period.afterAt >= before - 1) continue
        const at = slotsIn(period).prevAt(Math.min(before, period.untilAt + 1))
        if (at !== null && at > period.afterAt) return at
      }
      return null
    },
    countAt(from, to) {
      let count = 0
      for (const period of spans) {
        const [low, high] = [Math.max(from, period.afterAt), Math.min(to, period.untilAt)]
        if (low < high) count += slotsIn(period).countAt(low, high)
      }
      return count
    },
    countableUntil(after, until) {
      for (const period of spans) {
        const [low, high] = [Math.max(after, period.afterAt), Math.min(until, period.untilAt)]
        const reachAt = low < high ? slotsIn(period).countableUntil(low, high) : high
        // What two definition periods have together is as much as twice what one may have.
        if (reachAt < high) return reachAt
      }
      return until
    },
    isSlot: (at) => nextAt(at - 1) === at,
    periodAt: (at) => spans.find(({ afterAt, untilAt }) => afterAt < at && at <= untilAt) ?? null,
    ofRevision: (revision) => slotsIn(list.findLast((period) => period.revision <= revision) ?? list[0]!),
    slotsIn,
  }
}
