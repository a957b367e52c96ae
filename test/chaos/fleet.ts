/** Starts, kills, freezes and replaces real processes that share one store; what must hold afterwards is the tests' matter. */
import { type ChildProcess, fork } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export type FleetRole = 'scheduler' | 'worker' | 'both'

export interface Effect {
  readonly id: string
  readonly attempt: number
  readonly fence: number
  readonly pid: number
  readonly scheduledAt: string | null
}

export interface FleetMessage {
  readonly kind: 'ready' | 'error' | 'unhandled' | 'refused' | 'aborted'
  readonly where?: string
  readonly error?: string
  readonly id?: string
  readonly fence?: number
}

export interface FleetNode {
  readonly role: FleetRole
  readonly process: ChildProcess
  readonly ready: Promise<void>
  readonly gone: Promise<void>
}

export interface Fleet {
  start(role: FleetRole): FleetNode
  readonly nodes: readonly FleetNode[]
  readonly messages: readonly FleetMessage[]
  /** What the handlers wrote down themselves. */
  effects(): Effect[]
  /** While it stands, `hold` jobs do not return; with a process id, those of this process. */
  block(on: boolean, pid?: number): void
  /** A file of its own beside the effects, for a store. */
  path(name: string): string
  killAll(): Promise<void>
}

/** How the processes are set up. */
export interface FleetOptions {
  /** Of the product's default length when null. */
  readonly lease?: string | null
  /** `reportPresence` jobs take up to so long. */
  readonly workMs?: number
  /** Decides how long each of them takes. */
  readonly seed?: number
  /** Gives all claims the same id, as a failover can give two claims the same fence: what then protects is the fence alone. */
  readonly sameClaimIds?: boolean
  readonly planner?: 'leader' | 'sharded'
}

export function createFleet(
  store: (path: (name: string) => string) => string,
  { lease = '2s', workMs = 40, seed = 0, sameClaimIds = false, planner = 'leader' }: FleetOptions = {},
): Fleet {
  const folder = mkdtempSync(join(tmpdir(), 'everytick-chaos-'))
  const path = (name: string): string => join(folder, name)
  const effects = path('effects.ndjson')
  const blockFile = path('block')
  writeFileSync(effects, '')
  let nodes: FleetNode[] = []
  let started = 0
  const messages: FleetMessage[] = []

  return {
    get nodes() {
      return nodes
    },
    messages,
    start(role) {
      const given = { store: store(path), role, effects, lease, workMs, blockFile, sameClaimIds, planner }
      const argument = JSON.stringify({ ...given, seed: seed + started++ })
      const child = fork(fileURLToPath(new URL('./node.mjs', import.meta.url)), [argument], {
        stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
      })
      let heard = ''
      child.stderr!.on('data', (chunk) => (heard += chunk))
      const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
      const ready = new Promise<void>((resolve, reject) => {
        child.on('message', (message: FleetMessage) => {
          messages.push(message)
          if (message.kind === 'ready') resolve()
        })
        child.once('exit', (code) => reject(new Error(`a node ended with ${code} before it was ready: ${heard}`)))
      })
      ready.catch(() => {})
      const node: FleetNode = { role, process: child, ready, gone }
      nodes.push(node)
      void gone.then(() => {
        nodes = nodes.filter((other) => other !== node)
      })
      return node
    },
    effects: () =>
      readFileSync(effects, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    block(on, pid) {
      const file = pid === undefined ? blockFile : `${blockFile}.${pid}`
      if (on) writeFileSync(file, '')
      else if (existsSync(file)) rmSync(file)
    },
    path,
    async killAll() {
      const all = [...nodes]
      for (const node of all) node.process.kill('SIGKILL')
      await Promise.all(all.map(({ gone }) => gone))
    },
  }
}

/** Asks until the answer is there; the promise of the tests is the answer, not how long it took. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | null | false | undefined>,
  withinMs = 60_000,
): Promise<T> {
  for (const end = Date.now() + withinMs; ; ) {
    const answer = await ask()
    if (answer) return answer
    if (Date.now() > end) throw new Error(`not within ${withinMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
