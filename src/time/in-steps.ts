/** Runs work that comes in small steps on the event loop, and yields to other work after a few milliseconds; what a step does is the caller's matter. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from './clock.ts'
import type { Steps } from './steps.ts'

/** How long other work may have to wait for a slice. */
const SLICE_MS = 8
const MAX_STEPS_PER_SLICE = 200

export async function inSteps<Value>(steps: Steps<Value>, clock: Pick<Clock, 'elapsed'>): Promise<Value> {
  for (;;) {
    const from = clock.elapsed()
    for (let count = 0; count < MAX_STEPS_PER_SLICE && clock.elapsed() - from < SLICE_MS; count++) {
      const step = steps.next()
      if (step.done) return step.value
    }
    await nextTurn()
  }
}
