/** Anything that runs SQL inside the caller's own transaction; a user's database client fits as it is. */

export interface Executor {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }> | { rows: unknown[] }
}
