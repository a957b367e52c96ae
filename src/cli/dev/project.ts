/** Runs the user's code under `dev`: one child process per load, one after another. If a load fails, the old child keeps running. */
import { type ChildProcess, fork } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemTimers } from '../../time/timers.ts'
import { environmentWith } from '../config.ts'
import { EXIT } from '../exit.ts'
import type { Problem } from '../problem.ts'
import { type DevSetting, type FromChild, LONGEST_STOP_MS, type ToChild } from './messages.ts'

export interface ProjectOptions {
  readonly setting: Omit<DevSetting, 'first'>
  /** The current address of the server; null while there is none, `broken` when there is none until a file changes. */
  readonly lead: (to: number | null | 'broken') => void
  readonly onFile: (path: string) => void
  readonly onProblem: (problem: Problem) => void
  /** The child exited unexpectedly. */
  readonly onCrash: (code: number | null) => void
}

export interface Project {
  /** Loads the current code; false if that fails. */
  load(how?: { readonly moveMs?: number }): Promise<boolean>
  readonly movesClock: boolean
  /** Returns a problem if the child did not stop cleanly, otherwise null. */
  stop(): Promise<Problem | null>
  /** Kills the child at once. */
  kill(): void
}

interface Life {
  readonly child: ChildProcess
  readonly ended: Promise<void>
  /** Resolves with the next message of a kind; null if the child fails or exits first. */
  heard<Kind extends FromChild['kind']>(kind: Kind): Promise<Extract<FromChild, { kind: Kind }> | null>
  stop(how: { ledger: boolean; moveMs: number }): Promise<Problem | null>
}

const KILL_AFTER_MS = 5000
const NOT_ENDED: Problem = {
  code: 'STOP_TIMEOUT',
  message: 'the process running your jobs did not stop cleanly',
  exit: EXIT.failed,
}
const CHILD = fileURLToPath(new URL(`./child${extname(fileURLToPath(import.meta.url))}`, import.meta.url))

export function createProject({ setting, lead, onFile, onProblem, onCrash }: ProjectOptions): Project {
  let live: Life | null = null
  let movesClock = false
  let first = true
  let turn: Promise<unknown> = Promise.resolve()
  let stopped = false
  const all = new Set<ChildProcess>()

  const begin = (): Life => {
    const env = environmentWith({ EVERYTICK_URL: setting.url })
    const child = fork(CHILD, { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    const life = lifeOf(child, { onFile, onProblem })
    all.add(child)
    child.once('exit', (code) => {
      all.delete(child)
      if (live !== life) return
      live = null
      lead('broken')
      if (!stopped) onCrash(code)
    })
    tell(child, { kind: 'load', setting: { ...setting, first } })
    return life
  }

  const end = async (how: { ledger: boolean; moveMs: number }): Promise<Problem | null> => {
    const old = live
    live = null
    if (!old) return null
    lead(null)
    return old.stop(how)
  }

  const replace = async (moveMs: number): Promise<boolean> => {
    if (stopped) return false
    const next = begin()
    const willing = await next.heard('willing')
    if (!willing) {
      await next.ended
      if (!live) lead('broken')
      return false
    }
    await end({ ledger: false, moveMs })
    live = next
    tell(next.child, { kind: 'go' })
    const ready = await next.heard('ready')
    if (!ready) {
      if (live === next) live = null
      lead('broken')
      return false
    }
    first = false
    movesClock = ready.movesClock
    lead(ready.port)
    return true
  }

  return {
    get movesClock() {
      return movesClock
    },
    load({ moveMs = 0 } = {}) {
      const answer = turn.then(() => replace(moveMs))
      turn = answer.catch(() => {})
      return answer
    },
    async stop() {
      stopped = true
      await turn
      return end({ ledger: true, moveMs: 0 })
    },
    kill() {
      for (const child of all) child.kill('SIGKILL')
    },
  }
}

const tell = (child: ChildProcess, message: ToChild): void => {
  if (child.connected) child.send(message)
}

function lifeOf(child: ChildProcess, { onFile, onProblem }: Pick<ProjectOptions, 'onFile' | 'onProblem'>): Life {
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const heard = new Map<FromChild['kind'], FromChild>()
  const waiting = new Set<() => void>()
  child.on('message', (message: FromChild) => {
    if (message.kind === 'file') return onFile(message.path)
    if (message.kind === 'failed') onProblem(message.problem)
    heard.set(message.kind, message)
    for (const look of [...waiting]) look()
  })
  return {
    child,
    ended,
    heard: (kind) =>
      new Promise((resolve) => {
        const look = (): void => {
          const message = heard.get(kind)
          if (!message && !heard.has('failed')) return
          waiting.delete(look)
          resolve((message ?? null) as never)
        }
        waiting.add(look)
        void ended.then(() => resolve(null))
        look()
      }),
    async stop(how) {
      tell(child, { kind: 'stop', ...how })
      // A child with a blocked event loop does not receive messages.
      const cancel = systemTimers.set(LONGEST_STOP_MS + KILL_AFTER_MS, () => child.kill('SIGKILL'))
      await ended
      cancel()
      const failed = heard.get('failed')
      if (failed?.kind === 'failed') return failed.problem
      return child.exitCode === 0 ? null : NOT_ENDED
    },
  }
}
