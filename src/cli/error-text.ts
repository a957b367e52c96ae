/** Writes the error of a run for people: the message once, then where it comes from, the user's own code first; what is left out is counted. */
import { frameLines } from '../observe/stack-frames.ts'
import { jsonText } from './print.ts'

export interface ErrorBody {
  readonly name?: string
  readonly message: string
  readonly stack?: string
  readonly code?: string
  readonly detail?: unknown
}

export const errorLine = ({ name = 'Error', message }: ErrorBody): string => `${name}: ${message}`

/** For a cell of a table: the first line, with a mark where more follow. */
export const firstLine = (text: string): string => text.replace(/\s*\n[\s\S]*$/, ' …')

/** Rows of a label and a text; a label may be empty, where a text goes on. */
export function errorRows(error: ErrorBody): [label: string, text: string][] {
  const lines = errorLine(error).split('\n')
  return [
    ...lines.map((line, i): [string, string] => [i === 0 ? 'error' : '', line]),
    ...frameLines(error.stack ?? '').map((line): [string, string] => ['', `  ${line}`]),
    ...(error.code === undefined ? [] : ([['code', error.code]] as [string, string][])),
    ...(error.detail === undefined ? [] : ([['detail', jsonText(error.detail)]] as [string, string][])),
  ]
}
