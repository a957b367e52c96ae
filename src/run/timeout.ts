/** The timeout of an attempt: its default and its text form; a stored policy is always explicit, so that a new default changes no row. */
import { formatDuration } from '../time/duration.ts'

/** The default when neither job nor schedule nor caller sets a timeout. */
export const DEFAULT_TIMEOUT_MS = 3_600_000

/** As users write it: `1h`, or `none`. */
export const timeoutText = ({ timeoutMs }: { readonly timeoutMs?: number }): string =>
  timeoutMs === undefined ? NO_TIMEOUT : formatDuration(timeoutMs)

export const NO_TIMEOUT = 'none'
