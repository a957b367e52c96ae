/** Chooses which frames of a stack people see: those of the user's own code, or the first few when there are none; what is left out is counted. */
import { fileURLToPath } from 'node:url'

/** Frames that are shown when none of them is the user's. */
const MAX_FOREIGN = 5
const FRAME = /^\s+at (.+)$/
const FOREIGN = /node_modules[/\\]|\bnode:|^native$|<anonymous>\)?$|\(native\)$/
/** Of Everytick itself, where it is linked instead of installed. */
const OWN_FOLDER = fileURLToPath(new URL('..', import.meta.url))

const isForeign = (frame: string): boolean => FOREIGN.test(frame) || frame.includes(OWN_FOLDER)

/** A stack begins with the message, which is left out. */
export function frameLines(stack: string): readonly string[] {
  const frames = stack.split('\n').flatMap((line) => FRAME.exec(line)?.[1] ?? [])
  const own = frames.filter((frame) => !isForeign(frame))
  const shown = own.length > 0 ? own : frames.slice(0, MAX_FOREIGN)
  const folded = frames.length - shown.length
  const rest = folded > 0 ? [`(${folded} ${folded === 1 ? 'frame' : 'frames'} of packages and Node)`] : []
  return [...shown.map((frame) => `at ${frame}`), ...rest]
}
