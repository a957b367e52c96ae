/** Explains why a call got no complete response, by error code only, because error messages contain addresses. */

const WORDS: Readonly<Record<string, string>> = {
  EAI_AGAIN: 'the DNS server did not respond',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was reset',
  ENOTFOUND: 'the host name has no address',
  EPIPE: 'the connection was closed',
  ETIMEDOUT: 'the connection timed out',
  NOT_HTTP: 'the response is not HTTP',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  UND_ERR_HEADERS_OVERFLOW: 'the response headers are too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the response length does not match Content-Length',
  UND_ERR_SOCKET: 'the connection was closed before the response was complete',
}

export interface TransportFailure {
  /** A code of the operating system, of TLS or of undici, or `NOT_HTTP`; `UNKNOWN` when there is none. */
  readonly reason: string
  readonly message: string
}

export function transportFailure(error: unknown): TransportFailure {
  const reason = reasonOf(error)
  return { reason, message: `${WORDS[reason] ?? 'the call failed'} (${reason})` }
}

/** The first code on the way down: undici wraps what the socket said. */
function reasonOf(error: unknown): string {
  let at: unknown = error
  for (let depth = 0; depth < 5 && typeof at === 'object' && at !== null; depth++) {
    const { code, name, cause } = at as { code?: unknown; name?: unknown; cause?: unknown }
    // It says not always by a code, and not always by the same, what it could not read.
    if (name === 'HTTPParserError') return 'NOT_HTTP'
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code)) return code
    if (name === 'TimeoutError') return 'ETIMEDOUT'
    at = cause
  }
  return 'UNKNOWN'
}
