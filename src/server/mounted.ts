/** The type of a mounted handler; `handler.ts` creates one. */

/** What a Node adapter passes in addition to the request. */
export interface NodeEnv {
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string | undefined } }
}

/** `env` is the adapter's connection info, which contains the client address. */
export interface Handler {
  (request: Request, env?: NodeEnv): Promise<Response>
  /** The path prefix of the API; the empty text for the root. */
  readonly basePath: string
}
