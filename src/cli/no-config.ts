/** Holds what `--no-config` decides for this process: no configuration or jobs file is looked for, read or executed; what a command does without one is its own matter. */
import { UsageError } from './usage-error.ts'

let isForbidden = false

export function forbidConfig(): void {
  isForbidden = true
}

export const isConfigForbidden = (): boolean => isForbidden

/** For every place that would look for a file; `path` is the one that --config names. */
export function withoutConfig(path: string | undefined): boolean {
  if (isForbidden && path !== undefined)
    throw new UsageError('--config and --no-config exclude each other', { hint: 'leave out one of them' })
  return isForbidden
}

/** The refusal of a command that cannot work without a configuration; null where one may be executed. */
export const noConfigRefusal = (lacking: string, hint: string): UsageError | null =>
  isForbidden
    ? new UsageError(`--no-config leaves this command without ${lacking}`, { code: 'CONFIG_EXCLUDED', hint })
    : null
