/** Writes an interval as five cron fields that fire at the same instants; intervals count from the epoch, so the fields are in UTC. */

const [MINUTE, HOUR, DAY, WEEK] = [60_000, 3_600_000, 86_400_000, 604_800_000]
/** The epoch was a Thursday. */
const THURSDAY = 4

/** Null when five fields cannot express it. */
export function intervalFields(everyMs: number): string | null {
  if (everyMs < MINUTE) return null
  if (everyMs < HOUR) return HOUR % everyMs === 0 && everyMs % MINUTE === 0 ? minutes(everyMs / MINUTE) : null
  if (everyMs < DAY) return DAY % everyMs === 0 && everyMs % HOUR === 0 ? hours(everyMs / HOUR) : null
  if (everyMs === DAY) return '0 0 * * *'
  return everyMs === WEEK ? `0 0 * * ${THURSDAY}` : null
}

const minutes = (count: number): string => `${count === 1 ? '*' : `*/${count}`} * * * *`
const hours = (count: number): string => `0 ${count === 1 ? '*' : `*/${count}`} * * *`
