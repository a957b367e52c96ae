/** `everytick backfill watch`: shows a progress bar until a backfill ends; after Ctrl-C the backfill continues. */
import { systemClock } from '../../time/clock.ts'
import { createStallCheck } from '../backfill-stall.ts'
import type { CommandContext } from '../command-context.ts'
import { findId } from '../find-id.ts'
import { BACKFILLS } from '../kinds.ts'
import { fieldsText } from '../listing.ts'
import { barOn, barText, leftMs } from '../progress-bar.ts'
import { UsageError } from '../usage-error.ts'
import { watched } from '../watch.ts'

export interface BackfillBody {
  readonly id: string
  readonly schedule: string
  readonly state: string
  readonly from: string
  readonly to: string
  readonly done: number
  readonly total: number
  readonly succeeded: number
  readonly failed: number
  readonly cancelled: number
  readonly kept: number
  readonly running: number
}

export async function watchBackfill(
  { backend, io }: CommandContext,
  text: string,
  { json = false }: { readonly json?: boolean | string },
): Promise<string> {
  const id = await findId(backend, BACKFILLS, text)
  const stallOf = createStallCheck(backend)
  const bar = barOn(process.stderr)
  let first: { done: number; elapsed: number } | null = null
  const seen = await watched<BackfillBody>({
    async look() {
      const body = await backend.ask<BackfillBody>('GET', `/backfills/${id}`)
      const stall = await stallOf(body)
      if (stall !== null) {
        bar.clear()
        io.note(`${stall}\n`)
      }
      return body
    },
    isOver: ({ state, running }) => state !== 'running' && running === 0,
    show(body) {
      const elapsed = systemClock.elapsed()
      const { done, total } = workOf(body)
      first ??= { done, elapsed }
      const eta = leftMs({ first, done, total, elapsed })
      const counts = `${endsText(body)}  running ${body.running}`
      bar.show(barText({ done, total, counts, leftMs: eta, about: `${id}  (ctrl-c detaches)` }, io.around.columns))
    },
  }).finally(() => bar.clear())
  if (seen === 'detached') {
    io.note(`detached; the backfill continues. To watch it again: everytick backfill watch ${id}\n`)
    return ''
  }
  const { total } = workOf(seen)
  const ends = endsText(seen)
  // With --json, print the whole body also when the backfill failed.
  if (json) io.write(fieldsText(seen, json))
  if (seen.state === 'cancelled')
    throw new UsageError(`backfill ${id} was cancelled: ${ends} of ${total}`, { code: 'CANCELLED' })
  if (seen.failed > 0)
    throw new UsageError(`${seen.failed} of ${total} failed`, {
      code: 'INCOMPLETE',
      hint: `list them with: everytick runs ls status:failed`,
    })
  return json ? '' : `${ends} of ${total}\n`
}

/** Occurrences that already ran need no work, so the bar does not count them. */
const workOf = ({ done, total, kept }: BackfillBody): { done: number; total: number } => ({
  done: done - kept,
  total: total - kept,
})

function endsText({ succeeded, failed, cancelled }: BackfillBody): string {
  return [`✓${succeeded}`, ...(failed > 0 ? [`✗${failed}`] : []), ...(cancelled > 0 ? [`▯${cancelled}`] : [])].join(' ')
}
