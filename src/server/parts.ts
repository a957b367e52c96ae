/** The parts that the routes and background tasks of one server share. */
import type { Core } from '../scheduler/core.ts'
import type { Everytick } from '../scheduler.ts'
import type { Guesses } from './guesses.ts'
import type { Keys } from './keys.ts'
import type { KnownJobs } from './known-jobs.ts'
import type { Sessions } from './sessions.ts'
import type { ServerSettings } from './settings.ts'

export interface Parts {
  readonly app: Everytick
  readonly core: Core
  readonly settings: ServerSettings
  readonly keys: Keys
  readonly sessions: Sessions
  /** Limits key guesses, in requests and in the sign-in form together. */
  readonly keyGuesses: Guesses
  readonly jobs: KnownJobs
  /** Aborted when the server stops, to end whatever has no end of its own, such as event streams. */
  readonly ending: AbortSignal
}
