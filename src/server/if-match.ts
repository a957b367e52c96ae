/** Decides whether a request is for the version of a thing that is there, by its `If-Match` header; which version that is, is said by its route. */
import { Refusal } from './problem.ts'

/** What the header asks for: the tags it lists, `any` version that is there, or null where it asks for none in particular. */
export type WantedTags = readonly string[] | 'any' | null

const LIST = /^\s*(?:W\/)?"[^"]*"\s*(?:,\s*(?:W\/)?"[^"]*"\s*)*$/

/** A tag that a proxy has made weak still names one revision. What cannot be read matches nothing. */
export function wantedTags({ headers }: Pick<Request, 'headers'>): WantedTags {
  const header = headers.get('if-match')
  if (header === null) return null
  if (header.trim() === '*') return 'any'
  return LIST.test(header) ? Array.from(header.matchAll(/"([^"]*)"/g), ([, tag]) => tag!) : []
}

/** `tag`: of what is there, without quotes; null when there is nothing. */
export function matches(wanted: WantedTags, tag: string | null): boolean {
  if (wanted === null) return true
  return tag !== null && (wanted === 'any' || wanted.includes(tag))
}

export const tagOf = (version: number): string => `"${version}"`

/** What is asked for in one version is not answered with another, and not changed in another. */
export function refuseOtherTag(request: Request, etag: string | undefined): void {
  if (etag === undefined || matches(wantedTags(request), etag.replace(/^(?:W\/)?"(.*)"$/, '$1'))) return
  throw changed(`its ETag is ${etag}`)
}

/** For a request that makes a thing, which has no version yet. */
export function refuseAnyTag(request: Request): void {
  if (wantedTags(request) !== null) throw changed('it does not exist yet')
}

const changed = (message: string): Refusal =>
  new Refusal('PRECONDITION_FAILED', message, { hint: 'read it again, and repeat the request if it still applies' })
