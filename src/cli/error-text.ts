/** Formats the error of a run: the message once, then the stack with the user's own code first, and the number of omitted frames. */
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

/** For a table cell: the first line, with a mark if more follow. */
export const firstLine = (text: string): string => text.replace(/\s*\n[\s\S]*$/, ' …')

/** Rows of label and text; continuation rows have an empty label. */
export function errorRows(error: ErrorBody): [label: string, text: string][] {
  const lines = errorLine(error).split('\n')
  return [
    ...lines.map((line, i): [string, string] => [i === 0 ? 'error' : '', line]),
    ...frameLines(error.stack ?? '').map((line): [string, string] => ['', `  ${line}`]),
    ...(error.code === undefined ? [] : ([['code', error.code]] as [string, string][])),
    ...(error.detail === undefined ? [] : ([['detail', jsonText(error.detail)]] as [string, string][])),
  ]
}
