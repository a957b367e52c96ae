/** Names an occurrence: the run id is a pure function of schedule and nominal instant, so that firing twice is inserting once. */
import { hash } from 'node:crypto'

/** Instants before 1970 count down from the end of the 48 bits. */
const MS_END = 2 ** 48

/** Of a schedule's id, those that tell its 16 milliseconds among the last 17 minutes apart. */
const [MADE_FROM, MADE_TO] = [7, 11]

/**
 * UUIDv8 (RFC 9562): the instant in milliseconds, as in a UUIDv7, then a part of when the schedule was made, and then what
 * SHA-256 makes of the schedule's id. The instant comes first so that runs which are written together stand together in an
 * index, and the newest at its end; and of one instant, those of schedules that were made together.
 */
export function occurrenceId(scheduleId: string, scheduledAt: number): string {
  const whose = scheduleId.replaceAll('-', '').toLowerCase()
  const digits = whose.slice(MADE_FROM, MADE_TO) + hash('sha256', whose, 'hex')
  return `${beginning(scheduledAt)}${digits.slice(0, 3)}-8${digits.slice(3, 6)}-${digits.slice(6, 18)}`
}

/** The last one, since neighbours in a batch mostly share their instant. */
let [begunAt, begun] = [Number.NaN, '']

function beginning(scheduledAt: number): string {
  if (scheduledAt !== begunAt) {
    const time = (scheduledAt < 0 ? scheduledAt + MS_END : scheduledAt).toString(16).padStart(12, '0')
    begun = `${time.slice(0, 8)}-${time.slice(8)}-8`
    begunAt = scheduledAt
  }
  return begun
}
