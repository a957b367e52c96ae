/** What the command line learns from outside its arguments: environment, terminals, its own version; nothing else reads the environment. */
import { readFileSync } from 'node:fs'

export interface Surroundings {
  /** Someone reads standard output on a terminal, so tables suit better than tab-separated rows. */
  readonly terminal: boolean
  readonly outColours: boolean
  readonly errColours: boolean
}

export function surroundings(): Surroundings {
  const plain = Boolean(process.env.NO_COLOR) || process.env.TERM === 'dumb'
  const terminal = process.stdout.isTTY === true
  return { terminal, outColours: terminal && !plain, errColours: process.stderr.isTTY === true && !plain }
}

/** The version in package.json, which lies two folders up from here both in src and in dist. */
export function ownVersion(): string {
  const manifest: { version: string } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return manifest.version
}
