/** A dead man's switch: asks for an address, so that somebody elsewhere hears when nobody does any more; when that is due is `background-tasks.ts`. */
import { httpSend } from './http-send.ts'

/** Answers what went wrong, or null. */
export async function sendHeartbeat(url: string): Promise<Error | null> {
  // Whoever starts the server chooses this address, and may well keep the other end in the same house.
  const answer = await httpSend({ url, method: 'GET', allowPrivate: true })
  if (!answer.ok) return new Error(`the heartbeat request failed: ${answer.error}`)
  return answer.status < 300 ? null : new Error(`the heartbeat address responded with status ${answer.status}`)
}
