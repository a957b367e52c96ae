/** Joins a follower to a stream of bytes: what it writes is taken when the other end reads, and never piles up in between. */
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
              // A plain end would wait behind what is not being read, for ever.
              if (wanted) controller.close()
              else controller.error(gone())
            } catch {
              // The other end was quicker.
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

/** Ends up in a log of the host; where it was made says nothing there. */
function gone(): Error {
  const error = new Error('one who follows events does not read them and was let go')
  error.stack = `Error: ${error.message}`
  return error
}
