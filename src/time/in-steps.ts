/** Runs work that comes in small steps on the event loop, and yields to other work after a few milliseconds; what a step does is the caller's matter. */
import { type Clock, systemClock } from './clock.ts'
import type { Steps } from './steps.ts'

/** How long other work may have to wait for a slice. */
const SLICE_MS = 5
const MAX_STEPS_PER_SLICE = 200
/** What is done in this time never waits for a turn. */
const AT_ONCE_MS = 1

export async function inSteps<Value>(steps: Steps<Value>, clock: Pick<Clock, 'elapsed'> = systemClock): Promise<Value> {
  for (let sliceMs = AT_ONCE_MS; ; sliceMs = SLICE_MS) {
    const from = clock.elapsed()
    for (let count = 0; count < MAX_STEPS_PER_SLICE && clock.elapsed() - from < sliceMs; count++) {
      const step = steps.next()
      if (step.done) return step.value
    }
    await yieldToEventLoop()
  }
}

const waiting: (() => void)[] = []

/** Resolves in a turn of the event loop of its own: the slices of many requests follow each other, with all else between them. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(resumeNext)
  })
}

function resumeNext(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(resumeNext)
}
