/** Exit codes are API. */
export const EXIT = { ok: 0, failed: 1, usage: 2, notFound: 3, auth: 4, check: 5 } as const
