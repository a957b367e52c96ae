/** How long one attempt may take: the default, and how a stored policy says it; a stored policy is always explicit, so that a later default changes no row. */
import { formatDuration } from '../time/duration.ts'

/** For work about which neither its job, nor its schedule, nor its caller says anything. */
export const DEFAULT_TIMEOUT_MS = 3_600_000

/** As users write it: `1h`, or `none`. */
export const timeoutText = ({ timeoutMs }: { readonly timeoutMs?: number }): string =>
  timeoutMs === undefined ? NO_TIMEOUT : formatDuration(timeoutMs)

export const NO_TIMEOUT = 'none'
