/** What the routes and background tasks of one server share; each decides for itself what it does with it. */
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
  /** Of keys, with a request or with a form: one allowance for both. */
  readonly keyGuesses: Guesses
  readonly jobs: KnownJobs
  /** Aborted when the server ends: whatever goes on without end, such as a stream of events, ends then too. */
  readonly ending: AbortSignal
}
