/** Shows progress in one line that it overwrites; the caller counts. */
import { distanceText } from './instant-text.ts'
import { printable, width } from './print.ts'

export interface Progress {
  readonly done: number
  /** Null when unknown. */
  readonly total: number | null
  /** Such as `✓5 ✗1  running 2`. */
  readonly counts: string
  readonly leftMs: number | null
  /** Shown after the bar if there is room. */
  readonly about: string
}

const CELLS = 18
/** Some terminals report zero columns. */
const UNKNOWN = 80

export function barText({ done, total, counts, leftMs, about }: Progress, columns: number): string {
  const share = total === null || total === 0 ? 0 : Math.min(1, done / total)
  const full = Math.floor(share * CELLS)
  const parts = [
    ...(total === null ? [] : [`${'▓'.repeat(full)}${'░'.repeat(CELLS - full)}`]),
    total === null ? `${done} done` : `${done}/${total}`,
    ...(counts === '' ? [] : [counts]),
    ...(leftMs === null ? [] : [`eta ${distanceText(Math.max(1000, Math.round(leftMs)))}`]),
  ]
  const line = `  ${parts.join('  ')}`
  const long = `${line}   ${about}`
  // A wrapped line cannot be overwritten.
  const room = (columns > 0 ? columns : UNKNOWN) - 1
  return Array.from(width(long) <= room ? long : line)
    .slice(0, room)
    .join('')
}

export interface Pace {
  /** When the watch started. */
  readonly first: { readonly done: number; readonly elapsed: number }
  readonly done: number
  readonly total: number
  readonly elapsed: number
}

/** The remaining time at the current pace; null until the first item ends. */
export function leftMs({ first, done, total, elapsed }: Pace): number | null {
  const seen = done - first.done
  return seen <= 0 || done >= total ? null : ((elapsed - first.elapsed) / seen) * (total - done)
}

export interface Bar {
  show(line: string): void
  /** Clears the line. */
  clear(): void
}

/** Writes to standard error, so that it never mixes with data; does nothing if that is not a terminal. */
export function barOn(stream: NodeJS.WriteStream): Bar {
  if (!stream.isTTY) return { show: () => {}, clear: () => {} }
  return {
    show: (line) => void stream.write(`\r\u001b[K${printable(line)}`),
    clear: () => void stream.write('\r\u001b[K'),
  }
}
