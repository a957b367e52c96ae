/** Gives tests the package as a user gets it, built and run in a process of its own; what must be true of it the tests say. */
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root: string = dirname(dirname(fileURLToPath(import.meta.url)))

export const readText = (path: string): string => readFileSync(join(root, path), 'utf8')

export interface Ending {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Brings dist/ up to date; costs nothing under `npm test`, which has just done so. */
export function ensureBuilt(): void {
  execFileSync(process.execPath, [join(root, 'scripts', 'set-up.mjs')], { stdio: 'inherit' })
}

/** Runs Node in the root of the package. Colours are off, so that what is read is what is meant. */
export function runNode(...args: string[]): Ending {
  const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' }
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', env })
  return { code: status, out: stdout, err: stderr }
}

/** Runs the npm that runs us, or the one on the path. */
export function runNpm(...args: string[]): string {
  const running = process.env.npm_execpath
  const windows = process.platform === 'win32'
  if (running?.endsWith('npm-cli.js'))
    return execFileSync(process.execPath, [running, ...args], { cwd: root, encoding: 'utf8' })
  return execFileSync(windows ? 'npm.cmd' : 'npm', args, { cwd: root, encoding: 'utf8', shell: windows, stdio: 'pipe' })
}
