/** Names an occurrence: the run id is a pure function of schedule and nominal instant, so that firing twice is inserting once. */
import { hash } from 'node:crypto'

/** Instants before 1970 count down from the end of the 48 bits. */
const MS_END = 2 ** 48

/**
 * UUIDv8 (RFC 9562): the instant in milliseconds, as in a UUIDv7, and then what SHA-256 makes of the schedule's id. The
 * instant comes first so that runs which are written together stand together in an index, and the newest at its end.
 */
export function occurrenceId(scheduleId: string, scheduledAt: number): string {
  const time = (scheduledAt < 0 ? scheduledAt + MS_END : scheduledAt).toString(16).padStart(12, '0')
  const whose = hash('sha256', scheduleId.replaceAll('-', '').toLowerCase(), 'hex')
  return `${time.slice(0, 8)}-${time.slice(8)}-8${whose.slice(0, 3)}-8${whose.slice(3, 6)}-${whose.slice(6, 18)}`
}
