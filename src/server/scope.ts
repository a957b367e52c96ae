/** What somebody may do over HTTP, each scope including those before it; who has which is `principal.ts`, what needs which the table of operations. */
export const SCOPES = ['read', 'operate', 'admin'] as const
export type Scope = (typeof SCOPES)[number]
