/** The version of this package, from its manifest. */
import { readFileSync } from 'node:fs'

/** The manifest is two folders up, both in src and in dist. */
export function ownVersion(): string {
  const manifest: { version: string } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return manifest.version
}
