/** Names an occurrence: the run id is a pure function of schedule and nominal instant, so that firing twice is inserting once. */
import { createHash } from 'node:crypto'

/** UUIDv5 (RFC 9562) of the instant, with the schedule's own id as its namespace. */
export function occurrenceId(scheduleId: string, scheduledAt: number): string {
  const namespace = Buffer.from(scheduleId.replaceAll('-', ''), 'hex')
  const bytes = createHash('sha1').update(namespace).update(new Date(scheduledAt).toISOString()).digest()
  bytes[6] = (bytes[6]! & 0x0f) | 0x50
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex', 0, 16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
