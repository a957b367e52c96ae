/** The work that goes with a server and that one node is enough for, each under a lease of its own; what each does is a file of its own. */
import { leadership } from '../engine/leadership.ts'
import { createLoop } from '../engine/loop.ts'
import type { Store } from '../store/contract/store.ts'
import type { Parts } from './parts.ts'

export interface BackgroundTask {
  /** Of its lease. */
  readonly name: string
  /** One bounded step; answers in how many milliseconds the next is due. It may be done twice when a lease changes hands. */
  pass(store: Store): Promise<number>
}

export interface BackgroundTasks {
  /** Runs the next pass of a background task now, if this node has it. */
  wake(name: string): void
  stop(): Promise<void>
}

const LEASE_MS = 10_000
/** How often those who do not lead look whether they do. */
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
        // The lease is renewed at each look, so no pause may be longer than it lasts.
        return Math.min(await task.pass(store), LEASE_MS / 2)
      },
      onRecovery: () => core.hub.tell({ kind: 'engine.recovered', where: task.name }),
      onError(error, retryInMs) {
        // A store that is closed while a pass is in flight is how things end.
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
