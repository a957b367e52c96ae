/** The error for a request that the CLI or a server rejects, with the exit status of its code. */
import { type Code, EXIT, type ExitName, exitOf } from './exit.ts'

interface Details {
  readonly hint?: string
  readonly cause?: unknown
}

/** `USAGE` when there is no code. */
interface KnownCode extends Details {
  readonly code?: Code
}

/** The error code in the server's response. */
interface AnsweredCode extends Details {
  readonly code: string
  /** The exit status for a code of a newer server that is missing in our table. */
  readonly otherwise: ExitName
}

export type UsageDetails = KnownCode | AnsweredCode

export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly exit: number
  readonly code: string
  readonly hint: string | undefined

  constructor(message: string, details: UsageDetails = {}) {
    const { code = 'USAGE', hint, cause } = details
    super(message, cause === undefined ? undefined : { cause })
    this.exit = EXIT[exitOf(code, 'otherwise' in details ? details.otherwise : 'usage')]
    this.code = code
    this.hint = hint
  }
}
