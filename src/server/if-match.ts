/** Checks the `If-Match` header of a request against the current ETag of a resource. */
import { Refusal } from './problem.ts'

/** The tags in the header; `any` for `*`; null without the header. */
export type WantedTags = readonly string[] | 'any' | null

const LIST = /^\s*(?:W\/)?"[^"]*"\s*(?:,\s*(?:W\/)?"[^"]*"\s*)*$/

/** Accepts weak tags, because a proxy may weaken them. Malformed tags match nothing. */
export function wantedTags({ headers }: Pick<Request, 'headers'>): WantedTags {
  const header = headers.get('if-match')
  if (header === null) return null
  if (header.trim() === '*') return 'any'
  return LIST.test(header) ? Array.from(header.matchAll(/"([^"]*)"/g), ([, tag]) => tag!) : []
}

/** `tag`: the current tag without quotes; null if the resource does not exist. */
export function matches(wanted: WantedTags, tag: string | null): boolean {
  if (wanted === null) return true
  return tag !== null && (wanted === 'any' || wanted.includes(tag))
}

export const tagOf = (version: number): string => `"${version}"`

/** Throws PRECONDITION_FAILED if the current version is not the requested one. */
export function refuseOtherTag(request: Request, etag: string | undefined): void {
  if (etag === undefined || matches(wantedTags(request), etag.replace(/^(?:W\/)?"(.*)"$/, '$1'))) return
  throw changed(`its ETag is ${etag}`)
}

/** For a request that creates a resource, which has no version yet. */
export function refuseAnyTag(request: Request): void {
  if (wantedTags(request) !== null) throw changed('it does not exist yet')
}

const changed = (message: string): Refusal =>
  new Refusal('PRECONDITION_FAILED', message, { hint: 'read it again, and repeat the request if it still applies' })
