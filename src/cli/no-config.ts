/** Holds the `--no-config` setting of this process: the CLI does not search for, read or execute a configuration or jobs file. */
import { UsageError } from './usage-error.ts'

let isForbidden = false

export function forbidConfig(): void {
  isForbidden = true
}

export const isConfigForbidden = (): boolean => isForbidden

/** Call it before searching for a file; `path` is the one that --config names. */
export function withoutConfig(path: string | undefined): boolean {
  if (isForbidden && path !== undefined)
    throw new UsageError('--config and --no-config exclude each other', { hint: 'leave out one of them' })
  return isForbidden
}

/** The error of a command that needs a configuration; null when executing one is allowed. */
export const noConfigRefusal = (lacking: string, hint: string): UsageError | null =>
  isForbidden
    ? new UsageError(`--no-config leaves this command without ${lacking}`, { code: 'CONFIG_EXCLUDED', hint })
    : null
