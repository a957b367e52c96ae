/** Formats instants and text in table cells: short on a terminal, complete in a pipe. */
import { distanceText } from './instant-text.ts'
import { type View, width } from './print.ts'

/** `in 6h 10m` or `15m ago` on a terminal; the instant itself in a pipe. */
export function timeCell(at: string | null, now: number, view: View): string {
  if (at === null) return '-'
  return view.terminal ? relativeText(Date.parse(at), now) : at
}

export function relativeText(at: number, now: number): string {
  if (Math.abs(at - now) < 1000) return 'now'
  return at > now ? `in ${distanceText(at - now)}` : `${distanceText(now - at)} ago`
}

/** The time from one instant to another, or until now if there is no other. */
export function spanCell(from: string | null, to: string | null, now: number): string {
  if (from === null) return '-'
  return distanceText(Math.max(0, (to === null ? now : Date.parse(to)) - Date.parse(from)))
}

/** Truncated to this many characters on a terminal. */
export function shortCell(text: string, limit: number, view: View): string {
  if (!view.terminal || width(text) <= limit) return text
  return `${Array.from(text)
    .slice(0, limit - 1)
    .join('')
    .trimEnd()}…`
}
