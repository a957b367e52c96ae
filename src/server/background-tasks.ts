/** Runs the background tasks of a server. One node executes each task, under a lease per task. */
import { leadership } from '../engine/leadership.ts'
import { createLoop } from '../engine/loop.ts'
import type { Store } from '../store/contract/store.ts'
import type { Parts } from './parts.ts'

export interface BackgroundTask {
  /** The name of its lease. */
  readonly name: string
  /** One bounded step; returns the milliseconds until the next one. May run twice when the lease changes hands. */
  pass(store: Store): Promise<number>
}

export interface BackgroundTasks {
  /** Runs the next pass of a background task now, if this node holds its lease. */
  wake(name: string): void
  stop(): Promise<void>
}

const LEASE_MS = 10_000
/** How often a node without the lease tries to take it. */
const STANDBY_MS = 3000

export function startBackgroundTasks(
  { core, settings, ending }: Parts,
  backgroundTasks: readonly BackgroundTask[],
): BackgroundTasks {
  const holder = `server-${core.newId()}`
  const looked = settings.backgroundTasks ? backgroundTasks : []
  const running = looked.map((task) => {
    let lead: ReturnType<typeof leadership> | null = null
    let led = false
    const loop = createLoop({
      timers: core.timers,
      async pass() {
        const store = await core.store()
        lead ??= leadership({ locks: store.locks, clock: core.clock, name: task.name, holder, leaseMs: LEASE_MS })
        const leads = await lead.leads()
        if (leads !== led) core.hub.tell({ kind: 'leadership.changed', task: task.name, leads })
        led = leads
        if (!leads) return STANDBY_MS
        // Each pass renews the lease, so no pause may be longer than the lease.
        return Math.min(await task.pass(store), LEASE_MS / 2)
      },
      onRecovery: () => core.hub.tell({ kind: 'engine.recovered', where: task.name }),
      onError(error, retryInMs) {
        // At shutdown the store may close while a pass is in flight.
        if (!ending.aborted) core.hub.tell({ kind: 'engine.error', where: task.name, error, retryInMs })
      },
    })
    loop.start()
    const stop = async (): Promise<void> => {
      await loop.stop()
      await lead?.release().catch(() => {})
    }
    return { name: task.name, loop, stop }
  })
  return {
    wake: (name) => running.find((each) => each.name === name)?.loop.wake(),
    stop: async () => void (await Promise.all(running.map(({ stop }) => stop()))),
  }
}
