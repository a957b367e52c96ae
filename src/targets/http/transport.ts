/** Puts into words, purely, why a call got no whole answer: by codes alone, since messages of others have addresses in them. */

const WORDS: Readonly<Record<string, string>> = {
  EAI_AGAIN: 'the name server did not answer',
  ECONNREFUSED: 'nobody listens there',
  ECONNRESET: 'the connection was reset',
  ENOTFOUND: 'the name has no address',
  EPIPE: 'the connection was closed',
  ETIMEDOUT: 'nobody answered the connection',
  NOT_HTTP: 'the answer is not HTTP',
  UND_ERR_CONNECT_TIMEOUT: 'nobody answered the connection',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer was not as long as it said',
  UND_ERR_SOCKET: 'the connection was closed before the answer was whole',
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
