/** Makes the `traceparent` of a call for runs that nobody follows here, so that what the receiver records can still be found by the run. */
import { createHash } from 'node:crypto'

/**
 * The trace is the run, whose id has as many bits, and the parent is the attempt. Marked as sampled: receivers that sample as
 * their caller does would otherwise record nothing of it.
 */
export function traceparentOf(runId: string, fence: number): string {
  const plain = runId.replaceAll('-', '').toLowerCase()
  const trace = /^[0-9a-f]{32}$/.test(plain) && !/^0+$/.test(plain) ? plain : hashed(runId).slice(0, 32)
  return `00-${trace}-${hashed(`${runId}.${fence}`).slice(0, 16)}-01`
}

const hashed = (text: string): string => createHash('sha256').update(text).digest('hex')
