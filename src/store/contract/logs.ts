/** What runs say while they are executed, line by line; a few thousand lines of each attempt at most, forgotten with the history. */
import type { Json } from '../../json.ts'
import type { LogLevel } from '../../observe/logger.ts'

export interface NewLogLine {
  readonly runId: string
  readonly attempt: number
  readonly at: number
  readonly level: LogLevel
  readonly message: string
  readonly data: Json
}

export interface LogLine extends NewLogLine {
  /** Grows in the order in which lines were stored. */
  readonly seq: number
}

export interface LogStore {
  append(lines: readonly NewLogLine[]): Promise<void>
  /** In the order of `seq`, those after the given one: as many as fit into `maxBytes`, one at least, or up to `limit` without it. */
  read(
    runId: string,
    page: { readonly after?: number; readonly limit: number; readonly maxBytes?: number },
  ): Promise<LogLine[]>
}
