/** The problem codes that exist only over HTTP, with status and title; `docs/reference/rest.md` lists them. */
export const PROBLEM_CODES = {
  BODY_INVALID: [400, 'The body cannot be read as JSON'],
  CURSOR_INVALID: [400, 'The cursor is invalid'],
  UNAUTHENTICATED: [401, 'A valid API key is required'],
  FORBIDDEN: [403, 'The API key has no permission for this'],
  CROSS_SITE: [403, 'The request comes from another site'],
  NOT_FOUND: [404, 'Not found'],
  METHOD_NOT_ALLOWED: [405, 'The method is not allowed here'],
  NOT_ACCEPTABLE_STATE: [409, 'The current state does not allow this'],
  IDEMPOTENCY_IN_FLIGHT: [409, 'The first request with this idempotency key is still in flight'],
  IDEMPOTENCY_OUTCOME_UNKNOWN: [
    409,
    'The server crashed during the first request with this idempotency key, so its outcome is unknown',
  ],
  QUOTA_REACHED: [409, 'A quota of the workspace is reached'],
  PRECONDITION_FAILED: [412, 'The resource has changed since it was read'],
  BODY_TOO_LARGE: [413, 'The body is too large'],
  MEDIA_TYPE: [415, 'The body is not JSON'],
  REQUEST_INVALID: [422, 'The request does not match its schema'],
  IDEMPOTENCY_CONFLICT: [422, 'The idempotency key was used for another request'],
  RATE_LIMITED: [429, 'Too many requests'],
  CONCURRENCY_LIMITED: [429, 'Too many requests of this kind are in flight'],
  QUOTA_SPENT: [429, 'A quota of the workspace is used up for now'],
  INTERNAL: [500, 'Internal server error'],
  UNAVAILABLE: [503, 'The server is temporarily unavailable'],
} as const satisfies Record<string, readonly [status: number, title: string]>

export type ProblemCode = keyof typeof PROBLEM_CODES
