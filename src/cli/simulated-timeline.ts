/** Draws a simulation as lines of characters: a mark for each occurrence, and below it when work was going on or nobody was there. */

export interface Entry {
  readonly scheduledAt: string
  readonly dueAt: string
  readonly startedAt: string | null
  readonly finishedAt: string | null
  readonly outcome: string
  readonly reason: string | null
  readonly attempts: number
}

/** What is worse comes later: where several occurrences share a character, it is the worst of them. */
export const MARKS: readonly (readonly [outcome: string, mark: string, words: string])[] = [
  ['ran', '▮', 'ran'],
  ['running', '▶', 'still running'],
  ['caught_up', '↻', 'caught up'],
  ['waiting', '…', 'still waiting'],
  ['skipped', '▯', 'skipped'],
  ['missed', '·', 'missed'],
  ['cancelled', '⊘', 'cancelled'],
  ['failed', '✗', 'failed'],
]

const rankOf = (outcome: string): number => MARKS.findIndex(([name]) => name === outcome)
export const markOf = (outcome: string): string => MARKS[rankOf(outcome)]?.[1] ?? '?'

export interface Stretch {
  readonly fromAt: number
  readonly toAt: number
}

export interface Timeline {
  /** A mark for each occurrence, at its nominal instant. */
  readonly slots: string
  /** `█` while something ran, `░` while nobody was there. */
  readonly work: string
}

export function drawTimeline(
  entries: readonly Entry[],
  { fromAt, toAt, outages, columns }: Stretch & { readonly outages: readonly Stretch[]; readonly columns: number },
): Timeline {
  const columnOf = (at: number): number =>
    Math.max(0, Math.min(columns - 1, Math.floor(((at - fromAt) / (toAt - fromAt)) * columns)))
  const ranks = new Array<number>(columns).fill(-1)
  const work = new Array<string>(columns).fill(' ')
  const fill = (stretch: Stretch, character: string): void => {
    if (stretch.toAt <= fromAt || stretch.fromAt >= toAt) return
    // An end belongs to what comes after it, and so does not fill a character of its own.
    const last = Math.max(columnOf(stretch.fromAt), columnOf(stretch.toAt - 1))
    for (let column = columnOf(stretch.fromAt); column <= last; column++) work[column] = character
  }
  for (const { startedAt, finishedAt, scheduledAt, outcome } of entries) {
    const column = columnOf(Date.parse(scheduledAt))
    ranks[column] = Math.max(ranks[column]!, rankOf(outcome))
    if (startedAt === null) continue
    const end = finishedAt === null ? toAt : Date.parse(finishedAt)
    fill({ fromAt: Date.parse(startedAt), toAt: Math.max(end, Date.parse(startedAt) + 1) }, '█')
  }
  for (const outage of outages) fill(outage, '░')
  return { slots: ranks.map((rank) => MARKS[rank]?.[1] ?? ' ').join(''), work: work.join('') }
}
