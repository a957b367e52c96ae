/** A program that goes on, as a test sees it: what it has printed, when it has printed something, and how it ended. */
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { root } from '../built-package.ts'

export const PROGRAM: string = join(root, 'dist', 'cli', 'main.js')

export interface Running {
  readonly child: ChildProcess
  /** Standard output and standard error together. */
  shown(): string
  /** Resolves when a text has been printed so many times; rejects when the program ends without it. */
  heard(text: string | RegExp, times?: number): Promise<void>
  readonly ended: Promise<number | null>
  /** As one Ctrl-C at a terminal. */
  interrupt(): void
  /** The program and whatever it started, without a word. */
  kill(): void
}

const children = new Set<ChildProcess>()
afterAll(() => {
  for (const child of children) killGroup(child)
})

/** In a group of its own, so that all of it can be killed at once. */
export function running(command: readonly string[], { cwd = root, env = {} } = {}): Running {
  const child = spawn(command[0]!, command.slice(1), {
    cwd,
    detached: true,
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0', DATABASE_URL: '', ...env },
  })
  children.add(child)
  let out = ''
  let isOver = false
  const listeners = new Set<() => void>()
  const look = (): void => {
    for (const listener of [...listeners]) listener()
  }
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      out += text
      look()
    })
  const ended = new Promise<number | null>((resolve) =>
    child.once('close', (code) => {
      isOver = true
      children.delete(child)
      resolve(code)
      look()
    }),
  )
  const count = (text: string | RegExp): number => out.split(text).length - 1
  return {
    child,
    ended,
    shown: () => out,
    heard: (text, times = 1) =>
      new Promise((resolve, reject) => {
        const listener = (): void => {
          if (count(text) < times && !isOver) return
          listeners.delete(listener)
          if (count(text) >= times) resolve()
          else reject(new Error(`it ended without ${String(text)}:\n${out}`))
        }
        listeners.add(listener)
        listener()
      }),
    interrupt: () => void child.kill('SIGINT'),
    kill: () => killGroup(child),
  }
}

/** The built program under this Node. */
export const everytick = (args: readonly string[], how?: Parameters<typeof running>[1]): Running =>
  running([process.execPath, PROGRAM, ...args], how)

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
