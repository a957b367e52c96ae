/** The version of this package, as its manifest says. */
import { readFileSync } from 'node:fs'

/** The manifest lies two folders up from here both in src and in dist. */
export function ownVersion(): string {
  const manifest: { version: string } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return manifest.version
}
