/** Decides whether a timing has an occurrence soon enough to be worth saving, and words the refusal; reading it is `cron.ts`. */
import { EverytickError } from '../errors.ts'
import type { Timing } from './timing.ts'

export const NEVER_MS = 8 * 366 * 86_400_000

interface Given extends Pick<Timing, 'kind' | 'expression' | 'nextAt' | 'prevAt'> {
  /** It fires in every month it names, so that no search is needed. */
  readonly everyMonth?: boolean
}

/** Refuses what a person gives for a schedule when nothing of it lies in the eight years after `from`. */
export function refuseNever(timing: Given, from: number): void {
  if (timing.everyMonth) return
  const { expression } = timing
  const spot = { source: expression, span: [0, expression.length] } as const
  if (timing.kind === 'reboot') {
    const message = '@reboot is not supported: a schedule needs instants, and a restart of a machine is not one'
    throw new EverytickError('CRON_MACRO', message, { hint: 'call the function when your program starts', ...spot })
  }
  const next = timing.nextAt(from)
  if (next !== null && next - from <= NEVER_MS) return
  const hint = hintFor(next, timing.prevAt(from))
  throw new EverytickError('CRON_NEVER', `"${expression}" has no fire in the next 8 years`, { hint, ...spot })
}

function hintFor(next: number | null, prev: number | null): string {
  if (next !== null) return `its next fire is at ${new Date(next).toISOString()}, which is too far away`
  if (prev === null) return 'no such date comes: check the day of month against the months, weekdays and years chosen'
  return `its last fire was at ${new Date(prev).toISOString()}: remove the schedule, or choose later years`
}
