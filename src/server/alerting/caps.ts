/** How many channels, rules and open alerts one owner may have: a workspace, or the fleet, whose name is the empty text. Who refuses or leaves out what goes beyond is decided elsewhere. */

export interface Caps {
  readonly channels: number
  /** Without the default rules. */
  readonly rules: number
  /** Unresolved alerts of all its rules together. */
  readonly alerts: number
}

const FLEET: Caps = { channels: 500, rules: 500, alerts: 100_000 }
/** Quotas can lower how many channels and rules a workspace has, and not raise it beyond these. */
const WORKSPACE: Caps = { channels: 50, rules: 100, alerts: 500 }

export const capOf = (workspace: string): Caps => (workspace === '' ? FLEET : WORKSPACE)
