/** What the command line itself refuses, or a server refused it, with the exit code that a script sees. */
import { EXIT } from './exit.ts'

export interface UsageDetails {
  /** `usage` when absent. */
  readonly exit?: keyof typeof EXIT
  /** `USAGE` when absent; otherwise what a server called it. */
  readonly code?: string
  readonly hint?: string
  readonly cause?: unknown
}

export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly exit: number
  readonly code: string
  readonly hint: string | undefined

  constructor(message: string, { exit = 'usage', code = 'USAGE', hint, cause }: UsageDetails = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.exit = EXIT[exit]
    this.code = code
    this.hint = hint
  }
}
