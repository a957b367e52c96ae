/** Connects a follower to a byte stream with backpressure. */
import type { Follower, Outlet } from './follower.ts'

export function eventStream(follow: (outlet: Outlet) => Follower): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let wanted = false
  let follower: Follower | null = null
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        follower = follow({
          ready: () => wanted,
          write(text) {
            wanted = false
            controller.enqueue(encoder.encode(text))
          },
          end() {
            try {
              // A normal close would wait for unread data for ever.
              if (wanted) controller.close()
              else controller.error(gone())
            } catch {
              // The client has closed the stream already.
            }
          },
        })
      },
      pull() {
        wanted = true
        follower?.pump()
      },
      cancel: () => follower?.close(),
    },
    { highWaterMark: 0 },
  )
}

/** The host may log this error; its stack trace would not help. */
function gone(): Error {
  const error = new Error('the client of an event stream does not read and was disconnected')
  error.stack = `Error: ${error.message}`
  return error
}
