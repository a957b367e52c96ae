/** Writes the error of a run for people: the message once, then where it comes from, the user's own code first; what is left out is counted. */
import { fileURLToPath } from 'node:url'
import { jsonText } from './print.ts'

export interface ErrorBody {
  readonly name?: string
  readonly message: string
  readonly stack?: string
  readonly code?: string
  readonly detail?: unknown
}

/** Frames that are shown when none of them is the user's. */
const MAX_FOREIGN = 5

export const errorLine = ({ name = 'Error', message }: ErrorBody): string => `${name}: ${message}`

/** For a cell of a table: the first line, with a mark where more follow. */
export const firstLine = (text: string): string => text.replace(/\s*\n[\s\S]*$/, ' …')

/** Rows of a label and a text; a label may be empty, where a text goes on. */
export function errorRows(error: ErrorBody): [label: string, text: string][] {
  const lines = errorLine(error).split('\n')
  const { own, foreign } = framesOf(error.stack ?? '')
  const shown = own.length > 0 ? own : foreign.slice(0, MAX_FOREIGN)
  const folded = own.length + foreign.length - shown.length
  return [
    ...lines.map((line, i): [string, string] => [i === 0 ? 'error' : '', line]),
    ...shown.map((frame): [string, string] => ['', `  at ${frame}`]),
    ...(folded > 0
      ? ([['', `  (${folded} ${folded === 1 ? 'frame' : 'frames'} of packages and Node)`]] as [string, string][])
      : []),
    ...(error.code === undefined ? [] : ([['code', error.code]] as [string, string][])),
    ...(error.detail === undefined ? [] : ([['detail', jsonText(error.detail)]] as [string, string][])),
  ]
}

const FRAME = /^\s+at (.+)$/
/** Of Everytick itself, where it is linked instead of installed. */
const OWN_FOLDER = fileURLToPath(new URL('..', import.meta.url))

const FOREIGN = /node_modules[/\\]|\bnode:|^native$|<anonymous>\)?$|\(native\)$/

/** A stack begins with the message, which is shown already. */
export function framesOf(stack: string): { readonly own: readonly string[]; readonly foreign: readonly string[] } {
  const frames = stack.split('\n').flatMap((line) => FRAME.exec(line)?.[1] ?? [])
  const isForeign = (frame: string): boolean => FOREIGN.test(frame) || frame.includes(OWN_FOLDER)
  return { own: frames.filter((frame) => !isForeign(frame)), foreign: frames.filter(isForeign) }
}
