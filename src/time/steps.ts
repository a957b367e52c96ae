/** Work that comes in small steps, so that whoever drives it may let others work in between. */

export type Steps<Value> = Generator<void, Value>

/** All of them at once, where nobody waits. */
export function allSteps<Value>(steps: Steps<Value>): Value {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
