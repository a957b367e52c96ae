/** The caps on channels, rules and open alerts per owner: a workspace, or the fleet (the empty text). */

export interface Caps {
  readonly channels: number
  /** Excluding the default rules. */
  readonly rules: number
  /** Unresolved alerts of all rules of the owner. */
  readonly alerts: number
}

const FLEET: Caps = { channels: 500, rules: 500, alerts: 100_000 }
/** Quotas can lower these caps for a workspace, but not raise them. */
const WORKSPACE: Caps = { channels: 50, rules: 100, alerts: 500 }

export const capOf = (workspace: string): Caps => (workspace === '' ? FLEET : WORKSPACE)
