/** HTTP handler of the event stream. */
import * as contract from '../contract/events.ts'
import { createFollower, type Follower } from '../events/follower.ts'
import { eventStream } from '../events/stream.ts'
import { createTail } from '../events/tail.ts'
import type { Parts } from '../parts.ts'
import { Refusal } from '../problem.ts'
import { type Route, route } from '../route.ts'
import { shownStream } from '../shown.ts'

const HEADERS = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' }

export function eventRoutes(parts: Parts): readonly Route[] {
  const { core, ending } = parts
  const tail = createTail(parts)
  ending.addEventListener('abort', () => void tail.stop(), { once: true })

  return [
    route(contract.followEvents, async ({ query, principal, request }) => {
      if (ending.aborted)
        throw new Refusal('UNAVAILABLE', 'the server is stopping', { headers: { 'retry-after': '5' } })
      // A HEAD request would never read the stream.
      if (request.method === 'HEAD') return { status: 200, raw: new Response(null, { headers: HEADERS }) }
      const lastEventId = request.headers.get('last-event-id') ?? query.lastEventId ?? null
      const wish = { types: query.types?.split(',') ?? [], scheduleId: query.schedule ?? null }
      const stream = eventStream((outlet) => {
        const onClose = (): void => tail.leave(follower)
        const follower: Follower = createFollower({ principal, wish, timers: core.timers, outlet, onClose })
        // A client that disconnects before the response starts never reads it, and would go unnoticed for a while.
        request.signal.addEventListener('abort', follower.close, { once: true })
        tail.join(follower, lastEventId === '' ? null : lastEventId).catch(() => follower.close())
        return follower
      })
      return { status: 200, raw: shownStream(new Response(stream, { headers: HEADERS })) }
    }),
  ]
}
