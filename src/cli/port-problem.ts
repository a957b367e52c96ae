/** The error for an address that the process cannot listen on; other errors stay unchanged. */
import { UsageError } from './usage-error.ts'

/** The error to throw instead of this one. */
export function portProblem(error: unknown, port: number): unknown {
  if (!(error instanceof Error && 'syscall' in error && 'code' in error)) return error
  const code = String(error.code)
  const [message, hint] =
    code === 'EADDRINUSE'
      ? [`port ${port} is already in use`, 'use another --port; --port 0 picks a free one']
      : code === 'EACCES'
        ? [`no permission to listen on port ${port}`, 'use another --port; --port 0 picks a free one']
        : [`cannot listen on this address (${code})`, '--host takes an address of this machine']
  return new UsageError(message, { code: 'PORT_UNAVAILABLE', hint, cause: error })
}
