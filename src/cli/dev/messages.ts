/** The messages between the parent process at the terminal and the child that runs the user's code. */
import type { Problem } from '../problem.ts'
import type { TargetOptions } from '../target-jobs.ts'

/** The settings for the user's code. */
export interface DevSetting {
  readonly config: string | null
  /** Whether `--no-config` was given. */
  readonly noConfig: boolean
  readonly db: string | null
  /** The public address of the server. */
  readonly url: string
  /** Whether the keys work, which needs a terminal. */
  readonly keys: boolean
  /** Whether this is the first load, not a reload. */
  readonly first: boolean
  /** Options that add jobs to those of the project. */
  readonly targets: TargetOptions
}

/** The child must exit within this time; otherwise the parent kills it. */
export const LONGEST_STOP_MS = 30_000

export type ToChild =
  | { readonly kind: 'load'; readonly setting: DevSetting }
  /** The previous child has ended. */
  | { readonly kind: 'go' }
  | { readonly kind: 'stop'; readonly ledger: boolean; readonly moveMs: number }

export type FromChild =
  /** The child loaded a user file. */
  | { readonly kind: 'file'; readonly path: string }
  /** The child loaded the code. */
  | { readonly kind: 'willing' }
  | { readonly kind: 'ready'; readonly port: number; readonly movesClock: boolean }
  | { readonly kind: 'failed'; readonly problem: Problem }
