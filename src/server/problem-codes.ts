/** The catalogue of what HTTP callers can do wrong beyond what every caller can: code, status and title; `docs/reference/rest.md` lists them. */
export const PROBLEM_CODES = {
  BODY_INVALID: [400, 'The body cannot be read as JSON'],
  CURSOR_INVALID: [400, 'The cursor is none of ours'],
  UNAUTHENTICATED: [401, 'A valid key is needed'],
  FORBIDDEN: [403, 'This key may not do that'],
  CROSS_SITE: [403, 'The request comes from another site'],
  NOT_FOUND: [404, 'There is no such thing'],
  METHOD_NOT_ALLOWED: [405, 'The method is not allowed here'],
  NOT_ACCEPTABLE_STATE: [409, 'It is in a state that does not allow this'],
  IDEMPOTENCY_IN_FLIGHT: [409, 'The first request with this key is still in flight'],
  IDEMPOTENCY_OUTCOME_UNKNOWN: [
    409,
    'The server of the first request with this key died, and what it did is not known',
  ],
  QUOTA_REACHED: [409, 'A quota of the workspace is reached'],
  PRECONDITION_FAILED: [412, 'It was changed since it was read'],
  BODY_TOO_LARGE: [413, 'The body is too large'],
  MEDIA_TYPE: [415, 'The body is not JSON'],
  REQUEST_INVALID: [422, 'The request does not fit its schema'],
  IDEMPOTENCY_CONFLICT: [422, 'The key was used for another request'],
  RATE_LIMITED: [429, 'Too many requests'],
  CONCURRENCY_LIMITED: [429, 'Too many such requests are in flight'],
  QUOTA_SPENT: [429, 'A quota of the workspace is used up for now'],
  INTERNAL: [500, 'Something went wrong on our side'],
  UNAVAILABLE: [503, 'The server cannot answer now'],
} as const satisfies Record<string, readonly [status: number, title: string]>

export type ProblemCode = keyof typeof PROBLEM_CODES
