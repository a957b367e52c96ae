/** What a handler is to those who mount it: a function from a request to its answer; making one is `handler.ts`. */

/** What a Node adapter hands over besides the request. */
export interface NodeEnv {
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string | undefined } }
}

/** `env` is what the adapter knows of the connection, from which the sender's address is taken. */
export interface Handler {
  (request: Request, env?: NodeEnv): Promise<Response>
  /** The path under which the interface expects its requests; the empty text for the root. */
  readonly basePath: string
}
