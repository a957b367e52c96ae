/** A dead man's switch: requests a URL, so that an external monitor notices when the requests stop. */
import { httpSend } from './http-send.ts'

/** Returns the error, or null. */
export async function sendHeartbeat(url: string): Promise<Error | null> {
  // The operator of the server chooses this address, and it may well be in a private network.
  const answer = await httpSend({ url, method: 'GET', allowPrivate: true })
  if (!answer.ok) return new Error(`the heartbeat request failed: ${answer.error}`)
  return answer.status < 300 ? null : new Error(`the heartbeat address responded with status ${answer.status}`)
}
