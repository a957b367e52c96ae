/** Decides, purely, what is sent for one attempt: the body, the headers that say who calls for what, and the signature over it. */
import type { Header } from '../guard/headers.ts'
import type { Message } from '../message.ts'
import type { Sent } from './call.ts'
import { type HttpMethod, hasBody } from './http-call.ts'
import { signatureOf } from './signature.ts'

export interface RequestInput {
  readonly url: URL
  readonly method: HttpMethod
  readonly headers: readonly Header[]
  readonly keys: readonly Buffer[]
  /** Whether the payload goes in the facts of the run. */
  readonly envelope: boolean
  readonly message: Message
}

export interface Facts {
  readonly now: number
  readonly traceparent: string
  /** With which the receiver may complete this attempt. */
  readonly token: string
  /** Where, when we know how we are reached. */
  readonly completionUrl: string | null
}

export function requestOf({ url, method, headers, keys, envelope, message }: RequestInput, facts: Facts): Sent {
  const body = hasBody(method) ? JSON.stringify(envelope ? message : message.payload) : null
  const said: Record<string, string> = {
    ...(body === null ? {} : { 'content-type': 'application/json' }),
    accept: '*/*',
    // An answer that is packed is not unpacked: a small one can become very large.
    'accept-encoding': 'identity',
    'user-agent': 'everytick',
    ...Object.fromEntries(headers),
    ...signedHeaders(keys, { id: message.run, timestamp: Math.floor(facts.now / 1000), body: body ?? '' }),
    'idempotency-key': message.run,
    traceparent: facts.traceparent,
    'everytick-completion-token': facts.token,
    ...(facts.completionUrl === null ? {} : { 'everytick-completion-url': facts.completionUrl }),
  }
  return { url, method, headers: Object.entries(said), body }
}

/** Who calls and when is said also where nothing is signed. */
function signedHeaders(
  keys: readonly Buffer[],
  signed: { readonly id: string; readonly timestamp: number; readonly body: string },
): Record<string, string> {
  return {
    'webhook-id': signed.id,
    'webhook-timestamp': String(signed.timestamp),
    ...(keys.length === 0 ? {} : { 'webhook-signature': signatureOf(keys, signed) }),
  }
}
