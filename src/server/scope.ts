/** The scopes of HTTP callers; each scope includes the previous ones. */
export const SCOPES = ['read', 'operate', 'admin'] as const
export type Scope = (typeof SCOPES)[number]
