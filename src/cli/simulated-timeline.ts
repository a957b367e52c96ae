/** Draws a simulation as lines of characters: a mark per occurrence, and below it when runs were active or no worker was available. */

export interface Entry {
  readonly scheduledAt: string
  readonly dueAt: string
  readonly startedAt: string | null
  readonly finishedAt: string | null
  readonly outcome: string
  readonly reason: string | null
  readonly attempts: number
}

/** Ordered from best to worst: if several occurrences share a character, it shows the worst. */
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
  /** `█` while a run was active, `░` while no worker was available. */
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
    // Ends are exclusive, so an end does not fill another character.
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
