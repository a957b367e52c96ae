/** Asks something of Redis and does not wait for ever: ioredis keeps what was asked while it has no connection. */
import { AttemptFailed } from '../../run/control.ts'
import { systemTimers } from '../../time/timers.ts'

const ANSWER_MS = 10_000

/** What is answered late is ignored. Rejects with an `AttemptFailed`, or with the reason of the signal. */
export function answered<Answer>(asked: Promise<Answer>, queue: string, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason)
    const cancel = systemTimers.set(ANSWER_MS, () => reject(unreachable('no answer', queue)))
    const over = (): void => {
      cancel()
      signal.removeEventListener('abort', stop)
    }
    asked.finally(over).then(resolve, (error: unknown) => reject(refusalOf(error, queue)))
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
  })
}

const unreachable = (why: string, queue: string): AttemptFailed =>
  new AttemptFailed('BullmqUnreachable', `the Redis of queue "${queue}" cannot be reached: ${why}`, {
    code: 'BULLMQ_UNREACHABLE',
    detail: { queue },
  })

/** Only what names the kind of trouble: messages of sockets name addresses, and Redis repeats commands with their data. */
export function refusalOf(error: unknown, queue: string): unknown {
  const { name, message, code } = error as { name?: unknown; message?: unknown; code?: unknown }
  if (typeof code === 'string' && /^E[A-Z_]+$/.test(code) && !code.startsWith('ERR_')) return unreachable(code, queue)
  const text = String(message)
  if (name === 'MaxRetriesPerRequestError' || /^(?:Connection is closed|Stream isn't writeable|Command )/.test(text)) {
    return unreachable('no connection', queue)
  }
  const word = /^[A-Z]{2,20}(?=\s)/.exec(text)?.[0]
  if (word === undefined) return error
  const what = `Redis refused the job for queue "${queue}": ${word}`
  return new AttemptFailed('BullmqRefused', what, { code: 'BULLMQ_REFUSED', detail: { queue, redis: word } })
}
