/** Lists runs and non-runs as one history, newest first. The caller checks access. */
import type { Run } from '../run/run.ts'
import type { RunState } from '../run/state.ts'
import type { HistoryStore, ListedNonRun, NonRunPlace, RunContent, RunFilter } from '../store/contract/history.ts'
import { PAGE_BYTES } from './contract/vocabulary.ts'
import { isId } from './cursor.ts'
import { type IdRange, startOf, within } from './id-range.ts'
import { type MergedNext, mergedPage, type Source } from './merged-page.ts'

interface RunPlace {
  readonly id: string
}

export type HistoryCursor = MergedNext<RunPlace, NonRunPlace>

export interface HistoryRequest {
  readonly filter: Omit<RunFilter, 'states'>
  /** Only runs whose ids are in this range. */
  readonly range: IdRange | undefined
  /** Absent: all states except future occurrences. */
  readonly states: readonly RunState[] | undefined
  readonly limit: number
  readonly cursor: HistoryCursor | undefined
  /** The large columns to read in addition to the others. */
  readonly include: readonly RunContent[]
  readonly now: number
}

export interface HistoryPage {
  readonly items: readonly ({ readonly a: Run } | { readonly b: ListedNonRun })[]
  readonly next: HistoryCursor | null
}

const CONTENT: readonly RunContent[] = ['payload', 'result']
const NON_RUN_STATES = ['skipped', 'missed'] as const

export async function historyPage(history: HistoryStore, asked: HistoryRequest): Promise<HistoryPage> {
  const { filter, range, states, limit, include } = asked
  const omit = CONTENT.filter((each) => !include.includes(each))
  const runStates = states?.filter((state) => !isNonRun(state))
  const nonRunStates = states?.filter(isNonRun)
  const { a: runsFrom, b: nonRunsFrom } = asked.cursor ?? {
    a: runStates?.length === 0 ? ('end' as const) : firstRun(asked),
    b: range || nonRunStates?.length === 0 ? ('end' as const) : null,
  }
  const [a, b] = await Promise.all([
    source<Run, RunPlace>(runsFrom, async (from) => {
      const { after } = startOf(range, from ?? undefined)
      const page = { limit, maxBytes: PAGE_BYTES, omit, ...(after === undefined ? {} : { after: { id: after } }) }
      const { runs, next } = await history.find({ ...filter, ...(runStates ? { states: runStates } : {}) }, page)
      // A read that ended below the range has seen all of the range.
      return { items: within(runs, range), next: next && (within([next], range)[0] ?? null) }
    }),
    source<ListedNonRun, NonRunPlace>(nonRunsFrom, async (after) => {
      const page = { limit, ...(after ? { after } : {}) }
      const wanted = { ...filter, ...(nonRunStates ? { states: nonRunStates } : {}) }
      const { nonRuns, next } = await history.findNonRuns(wanted, page)
      return { items: nonRuns, next }
    }),
  ])
  return mergedPage({
    ...{ a, b, limit },
    instantOf: { a: ({ id }) => instantOf(id), b: ({ toAt }) => toAt },
    placeOf: { a: ({ id }) => ({ id }), b: ({ toAt, scheduleId }) => ({ toAt, scheduleId }) },
    edgeOf: { a: ({ id }) => instantOf(id), b: ({ toAt }) => toAt },
  })
}

/** Future occurrences are listed only on request. */
const firstRun = ({ range, states, now }: HistoryRequest): RunPlace | null =>
  range || states ? null : { id: idAfter(now) }

async function source<Item, Place>(
  from: Place | null | 'end',
  read: (after: Place | null) => Promise<Pick<Source<Item, Place>, 'items' | 'next'>>,
): Promise<Source<Item, Place>> {
  return from === 'end' ? { items: [], next: null, from: null } : { ...(await read(from)), from }
}

const isNonRun = (state: RunState): state is (typeof NON_RUN_STATES)[number] =>
  NON_RUN_STATES.some((each) => each === state)

/** The timestamp with which a run id begins. */
const instantOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

/** A bound above all ids up to this instant, and below all later ones. */
function idAfter(at: number): string {
  const digits = (at + 1).toString(16).padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000`
}

export function isHistoryCursor(value: unknown): value is HistoryCursor {
  const { a, b } = (value ?? {}) as { readonly a?: unknown; readonly b?: unknown }
  return (isOpen(a) || isRunPlace(a)) && (isOpen(b) || isNonRunPlace(b))
}

const isOpen = (value: unknown): value is null | 'end' => value === null || value === 'end'

const isRunPlace = (value: unknown): value is RunPlace => isId((value as Partial<RunPlace> | undefined)?.id)

function isNonRunPlace(value: unknown): value is NonRunPlace {
  const { toAt, scheduleId } = (value ?? {}) as { readonly toAt?: unknown; readonly scheduleId?: unknown }
  return Number.isSafeInteger(toAt) && Math.abs(toAt as number) <= MAX_INSTANT && isId(scheduleId)
}

/** The latest instant that a Date can hold. */
const MAX_INSTANT = 8.64e15
