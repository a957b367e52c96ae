/** Writes wall times, dates and offsets as people read them; which ones matter is decided by the caller. */

const pad = (value: number): string => String(value).padStart(2, '0')

/** `02:30`, or `02:30:15` when there are seconds; `wall` counts as if it were UTC. */
export function clockText(wall: number): string {
  const iso = new Date(wall).toISOString()
  return iso.slice(11, iso.slice(17, 19) === '00' ? 16 : 19)
}

/** `2027-03-28`. */
export const dateText = (wall: number): string => new Date(wall).toISOString().split('T')[0]!

/** `+02:00`, with seconds where an old zone has them. */
export function offsetText(offsetMs: number): string {
  const seconds = Math.abs(offsetMs) / 1000
  const text = `${offsetMs < 0 ? '-' : '+'}${pad(Math.floor(seconds / 3600))}:${pad(Math.floor(seconds / 60) % 60)}`
  return seconds % 60 === 0 ? text : `${text}:${pad(seconds % 60)}`
}
