/** What is said when an address cannot be listened on; other errors are left as they are. */
import { UsageError } from './usage-error.ts'

/** The error to throw instead of this one. */
export function portProblem(error: unknown, port: number): unknown {
  if (!(error instanceof Error && 'syscall' in error && 'code' in error)) return error
  const code = String(error.code)
  const [message, hint] =
    code === 'EADDRINUSE'
      ? [`port ${port} is taken`, '--port 0 takes a free one']
      : code === 'EACCES'
        ? [`port ${port} may not be used`, '--port 0 takes a free one']
        : [`nobody can listen there (${code})`, '--host takes an address of this machine']
  return new UsageError(message, { code: 'PORT_UNAVAILABLE', hint, cause: error })
}
