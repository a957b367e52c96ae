/** What the process at the terminal and the one that runs the user's code tell each other. */
import type { Problem } from '../problem.ts'
import type { TargetOptions } from '../target-jobs.ts'

/** What the user's code is run with. */
export interface DevSetting {
  readonly config: string | null
  /** Whether `--no-config` was given. */
  readonly noConfig: boolean
  readonly db: string | null
  /** Where the interface is reached from outside. */
  readonly url: string
  /** Whether somebody sits there who can press keys. */
  readonly keys: boolean
  /** Whether this is the start, and not a reload. */
  readonly first: boolean
  /** What is brought besides the jobs of the project. */
  readonly targets: TargetOptions
}

/** The child ends by then, whatever hangs; the parent kills one that does not. */
export const LONGEST_STOP_MS = 30_000

export type ToChild =
  | { readonly kind: 'load'; readonly setting: DevSetting }
  /** The one before has ended. */
  | { readonly kind: 'go' }
  | { readonly kind: 'stop'; readonly ledger: boolean; readonly moveMs: number }

export type FromChild =
  /** A file of the user's was read. */
  | { readonly kind: 'file'; readonly path: string }
  /** The code could be loaded. */
  | { readonly kind: 'willing' }
  | { readonly kind: 'ready'; readonly port: number; readonly movesClock: boolean }
  | { readonly kind: 'failed'; readonly problem: Problem }
