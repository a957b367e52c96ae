/** Formats the message for an uncaught error that ends the process: what was thrown and where, by which run, and what happens to the runs. */
import type { RunName } from '../engine/current-run.ts'
import type { Uncaught } from '../engine/interruption.ts'
import { runError } from '../engine/run-error.ts'
import { frameLines } from '../observe/stack-frames.ts'
import { printable } from '../printable.ts'

export interface Surroundings {
  /** The run whose code threw, even if it has ended; null if unknown. */
  readonly name: RunName | null
  /** How many runs are in progress, including the one that threw. */
  readonly inProgress: number
}

const CAUSES = 'a timer or an event listener that throws, or a promise without await and catch'
const HINT = 'Await the promise in the handler, or catch the error where it is thrown.'

export function uncaughtText(uncaught: Uncaught, surroundings: Surroundings): string {
  const { name, message, stack = '' } = runError(uncaught.error)
  const [first, ...more] = `${name}: ${message}`.split('\n').map(printable)
  const lines = [
    `UNCAUGHT_ERROR: this process ends, because no code caught ${first}`,
    ...more.map((line) => `  ${line}`),
    ...frameLines(stack).map((line) => `    ${printable(line)}`),
    ...originOf(uncaught, surroundings).map((line) => `  ${line}`),
  ]
  return `${lines.join('\n')}\n`
}

function originOf({ thrower }: Uncaught, { name, inProgress }: Surroundings): readonly string[] {
  if (thrower !== null) {
    const { id, job, attempt } = thrower
    return [
      `Run ${id} of job "${printable(job)}" threw it, outside of what its handler awaits: ${CAUSES}.`,
      `Its attempt ${attempt} failed with it. ${goingBack(inProgress - 1, 'other run')}`,
      HINT,
    ]
  }
  const origin =
    name === null
      ? `Which run threw it is not known. The usual cause is ${CAUSES}.`
      : `Run ${name.id} of job "${printable(name.job)}", which has ended, left behind what threw it: ${CAUSES}.`
  return [origin, goingBack(inProgress, 'run'), HINT]
}

const goingBack = (count: number, noun: string): string =>
  count === 0
    ? `No ${noun} is in progress.`
    : `${count} ${count === 1 ? `${noun} goes` : `${noun}s go`} back to the queue.`
