/** Decides, purely, what an answer that points elsewhere leads to; whether the new address may be called is asked of the guard again. */

export interface Redirected {
  readonly from: URL
  readonly status: number
  readonly location: string | null
  readonly method: string
  /** With names in small letters. */
  readonly headers: readonly (readonly [name: string, value: string])[]
}

export type NextRequest =
  | {
      readonly kind: 'follow'
      /** Not checked yet. */
      readonly url: URL
      readonly method: string
      readonly headers: readonly (readonly [name: string, value: string])[]
      /** Whether the body goes along. */
      readonly keepsBody: boolean
    }
  | { readonly kind: 'refused'; readonly reason: string }

/**
 * What may be told to another origin. All else may be a credential: a header of one's own as well as the token with which
 * the run is completed. The signature is none; it only proves the body it comes with.
 */
const FOR_OTHERS =
  /^(?:accept|accept-language|content-type|content-encoding|user-agent|idempotency-key|traceparent|webhook-(?:id|timestamp|signature))$/

/** What speaks of the body. */
const OF_BODY = /^(?:content-|webhook-)/

const SEE_OTHER = 303
const KEEPS_METHOD = new Set([307, 308])
const FOLLOWED = new Set([301, 302, SEE_OTHER, ...KEEPS_METHOD])

export const isRedirect = (status: number): boolean => FOLLOWED.has(status)

export function nextRequest({ from, status, location, method, headers }: Redirected): NextRequest {
  const refused = (reason: string): NextRequest => ({ kind: 'refused', reason })
  if (!isRedirect(status)) return refused(`the answer ${status} is not a redirect that can be followed`)
  if (location === null || !URL.canParse(location, from.href)) return refused('the redirect does not say where to')
  const url = new URL(location, from)
  if (from.protocol === 'https:' && url.protocol !== 'https:') {
    return refused('the redirect leads from https to an address that is not encrypted')
  }
  const isReading = method === 'GET' || method === 'HEAD'
  // Many read these as "ask again with GET": then the work would count as done and never have been sent.
  if (!isReading && status !== SEE_OTHER && !KEEPS_METHOD.has(status)) {
    return refused(`the redirect ${status} may turn ${method} into GET: only 307 and 308 keep it`)
  }
  const keepsBody = status !== SEE_OTHER
  const kept = headers
    .filter(([name]) => keepsBody || !OF_BODY.test(name))
    .filter(([name]) => url.origin === from.origin || FOR_OTHERS.test(name))
  return { kind: 'follow', url, method: keepsBody || method === 'HEAD' ? method : 'GET', headers: kept, keepsBody }
}
