/** Tracks open streams: ends them when their key or session ends, and releases their permits. */
import { createLoop } from '../engine/loop.ts'
import type { Parts } from './parts.ts'
import type { Principal } from './principal.ts'
import type { Reply } from './route.ts'

export interface OpenStreams {
  /** The same response, which releases its permit when its body ends, or at once without a body. */
  watched(reply: Reply, opening: Opening): Reply
  stop(): Promise<void>
}

export interface Opening {
  readonly principal: Principal
  readonly request: Request
  readonly release: () => void
}

/** Together with the cache time of keys, a stream ends within a second of its key or session. */
const CHECK_MS = 250
const CHECKS_AT_ONCE = 10

interface Stream {
  readonly principal: Principal
  end(): void
}

export function createOpenStreams({ core, keys, sessions, ending }: OpenStreamsParts): OpenStreams {
  /** Streams by key or session; a stream without either ends only when its client disconnects. */
  const byCredential = new Map<string, Set<Stream>>()

  const isInForce = async ({ keyId, sessionId }: Principal): Promise<boolean> => {
    if (sessionId !== undefined) return (await sessions.find(sessionId)) !== null
    return keyId === null || (await keys.inForce(keyId)) !== null
  }
  const loop = createLoop({
    timers: core.timers,
    async pass() {
      if (byCredential.size === 0 || ending.aborted) return Number.POSITIVE_INFINITY
      const groups = [...byCredential.values()]
      const check = async (group: ReadonlySet<Stream>): Promise<void> => {
        const [first] = group
        if (!first || (await isInForce(first.principal))) return
        for (const stream of [...group]) stream.end()
      }
      for (let from = 0; from < groups.length; from += CHECKS_AT_ONCE)
        await Promise.all(groups.slice(from, from + CHECKS_AT_ONCE).map(check))
      return CHECK_MS
    },
    onRecovery: () => core.hub.tell({ kind: 'engine.recovered', where: 'streams' }),
    onError(error, retryInMs) {
      if (!ending.aborted) core.hub.tell({ kind: 'engine.error', where: 'streams', error, retryInMs })
    },
  })

  const watch = (stream: Stream): void => {
    const credential = credentialOf(stream.principal)
    if (credential === null) return
    const group = byCredential.get(credential) ?? new Set()
    byCredential.set(credential, group.add(stream))
    loop.start()
    if (byCredential.size === 1 && group.size === 1) loop.wake()
  }
  const forget = (stream: Stream): void => {
    const credential = credentialOf(stream.principal)
    const group = credential === null ? undefined : byCredential.get(credential)
    if (credential !== null && group?.delete(stream) && group.size === 0) byCredential.delete(credential)
  }

  return {
    watched(reply, { principal, request, release }) {
      const { raw } = reply
      if (!raw?.body || request.method === 'HEAD') {
        release()
        return reply
      }
      const { body, end } = endable(raw.body, () => {
        forget(stream)
        request.signal.removeEventListener('abort', end)
        release()
      })
      const stream: Stream = { principal, end }
      // A client that disconnects before the response starts never reads it.
      request.signal.addEventListener('abort', end, { once: true })
      if (request.signal.aborted) end()
      else watch(stream)
      return { ...reply, raw: new Response(body, { status: raw.status, headers: raw.headers }) }
    },
    stop: () => loop.stop(),
  }
}

const credentialOf = ({ sessionId, keyId }: Principal): string | null => sessionId ?? keyId

type OpenStreamsParts = Pick<Parts, 'core' | 'keys' | 'sessions' | 'ending'>

interface Endable {
  readonly body: ReadableStream<Uint8Array>
  end(): void
}

/** Passes the bytes through with backpressure, until the source or `end` ends them. */
function endable(source: ReadableStream<Uint8Array>, onClose: () => void): Endable {
  const reader = source.getReader()
  let controller: ReadableStreamDefaultController<Uint8Array>
  let isRead = false
  let isOver = false
  const finish = (say: () => void): void => {
    if (isOver) return
    isOver = true
    onClose()
    say()
  }
  const body = new ReadableStream<Uint8Array>(
    {
      start(own) {
        controller = own
      },
      async pull() {
        isRead = true
        try {
          const { done, value } = await reader.read()
          if (isOver) return
          if (done) finish(() => controller.close())
          else controller.enqueue(value)
        } catch (error) {
          finish(() => controller.error(error))
        } finally {
          isRead = false
        }
      },
      cancel(reason) {
        finish(() => {})
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
  // The source may end while the client does not read.
  reader.closed.then(
    () => finish(() => controller.close()),
    (error) => finish(() => controller.error(error)),
  )
  return {
    body,
    end: () =>
      finish(() => {
        reader.cancel().catch(() => {})
        // A normal close would wait for a client that does not read.
        if (isRead) controller.close()
        else
          controller.error(new Error('the key or session of this stream has expired, or its client has disconnected'))
      }),
  }
}
