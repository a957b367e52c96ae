/** Runs one process in a group of its own, and ends the whole group when told to or when the process has ended; what its end means is decided elsewhere. */
import { type ChildProcess, spawn } from 'node:child_process'
import { systemClock } from '../../time/clock.ts'
import { systemTimers } from '../../time/timers.ts'
import type { Environment } from './environment.ts'
import type { Stream } from './output.ts'
import { createWatchdog } from './watchdog.ts'

export interface Call {
  readonly file: string
  readonly args: readonly string[]
  readonly env: Environment
  readonly cwd: string | null
  /** Null: nothing to read. */
  readonly stdin: string | null
}

export interface Overseen {
  readonly signal: AbortSignal
  /** How long the group has between SIGTERM and SIGKILL, once the signal says stop. */
  readonly graceMs: () => number
  readonly onOutput: (stream: Stream, chunk: Buffer) => void
}

export interface Exit {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly durationMs: number
}

/** How often to look whether the rest of a group is gone. */
const POLL_MS = 50
/** Whoever left the group and holds our pipes is not waited for. */
const LAST_WORDS_MS = 500
/** After SIGKILL; what is still there then is out of our reach, or dead and nobody has taken note of it. */
const BURIAL_MS = 100

const watchdog = createWatchdog()

/** Resolves when the process and its group are gone; rejects, with the system's error, when it could not be started. */
export async function runChild(call: Call, overseen: Overseen): Promise<Exit> {
  const { file, args, env, cwd, stdin } = call
  watchdog.wake()
  const startedAt = systemClock.elapsed()
  const child = spawn(file, args, {
    ...{ env, detached: true, stdio: [stdin === null ? 'ignore' : 'pipe', 'pipe', 'pipe'] },
    ...(cwd !== null && { cwd }),
  })
  const group = child.pid
  // Before anything else: from here on nobody but us knows of it.
  if (group !== undefined) watchdog.watch(group)
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (exitCode, signal) => {
      resolve({ exitCode, signal, durationMs: Math.round(systemClock.elapsed() - startedAt) })
    })
  })
  for (const stream of ['stdout', 'stderr'] as const) {
    // Where there are no descriptors left there are no streams either; the error comes by itself.
    child[stream]?.on('data', (chunk: Buffer) => overseen.onOutput(stream, chunk)).on('error', () => {})
  }
  // A process need not read what it is given.
  child.stdin?.on('error', () => {}).end(stdin)
  if (group === undefined) return exited
  const ending = endOfGroup(group, overseen)
  try {
    const exit = await exited
    await ending.finish()
    await atMost(LAST_WORDS_MS, closed)
    return exit
  } finally {
    watchdog.forget(group)
    ending.close()
    release(child)
  }
}

interface GroupEnd {
  /** The first of the group has ended: so do the others. Resolves when they have. */
  finish(): Promise<void>
  close(): void
}

function endOfGroup(group: number, { signal, graceMs }: Overseen): GroupEnd {
  let cancelKill: (() => void) | null = null
  let killed = false
  let over = false
  const stop = (): void => {
    if (cancelKill || over) return
    send(group, 'SIGTERM')
    cancelKill = systemTimers.set(graceMs(), () => {
      killed = true
      send(group, 'SIGKILL')
    })
  }
  const close = (): void => {
    over = true
    signal.removeEventListener('abort', stop)
    cancelKill?.()
  }
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  return {
    async finish() {
      if (isThere(group)) stop()
      // Looked at all the while: once the group is gone its number may become another's.
      for (let backoffMs = BURIAL_MS; backoffMs > 0 && isThere(group); backoffMs -= killed ? POLL_MS : 0)
        await after(POLL_MS)
      close()
    },
    close,
  }
}

const after = (ms: number): Promise<void> => new Promise((resolve) => systemTimers.set(ms, resolve))

async function atMost(ms: number, work: Promise<void>): Promise<void> {
  let cancel = (): void => {}
  const over = new Promise<void>((resolve) => {
    cancel = systemTimers.set(ms, resolve)
  })
  await Promise.race([work, over])
  cancel()
}

/** Answers whether there was anybody to hear it. */
function send(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal)
  } catch {
    return false
  }
}

const isThere = (group: number): boolean => send(group, 0)

function release({ stdin, stdout, stderr }: ChildProcess): void {
  for (const stream of [stdin, stdout, stderr]) stream?.destroy()
}
