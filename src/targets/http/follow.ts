/** Calls, and calls on where the answer points elsewhere, as far as that is wanted; every address is checked before it is called. */
import { AttemptDiscarded } from '../../run/control.ts'
import type { Timers } from '../../time/timers.ts'
import type { Guard } from '../guard/guard.ts'
import { isRedirect, nextRequest } from '../guard/redirect.ts'
import { call, type Heard, type Sent, type Way } from './call.ts'

export interface Following {
  readonly way: Way
  readonly guard: Guard
  readonly redirects: number
  readonly signal: AbortSignal
  readonly timers: Timers
}

export async function follow(first: Sent, { way, guard, redirects, signal, timers }: Following): Promise<Heard> {
  let sent = first
  for (let left = redirects; ; left--) {
    const heard = await call(way, sent, { signal, timers })
    if (left === 0 || !isRedirect(heard.status)) return heard
    const { url: from, method, headers, body } = sent
    const location = heard.headers.location ?? null
    const next = nextRequest({ from, status: heard.status, location, method, headers })
    if (next.kind === 'refused') throw new AttemptDiscarded('HttpError', next.reason, { code: 'TARGET_REFUSED' })
    sent = {
      url: guard.check(next.url),
      method: next.method,
      headers: next.headers,
      body: next.keepsBody ? body : null,
    }
  }
}
