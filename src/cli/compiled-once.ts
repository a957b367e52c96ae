/** Keeps what became of a source when it was compiled, so that a file that has not changed is not compiled again; where it is kept is the caller's matter. */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ownVersion } from './config.ts'
import { OWNER_FILE, OWNER_FOLDER } from './owner-only.ts'

export interface Compiling {
  readonly filename: string
  readonly source: string
}

/** Files that are gone leave theirs behind, above all in a folder that projects share. */
const MAX_KEPT = 500

/** One entry for each file and way of compiling it, so that the folder does not grow with every change. */
export function compiledOnce(folder: string, { source, ...how }: Compiling, compile: () => string): string {
  const path = join(folder, `${basename(how.filename)}-${hashOf(JSON.stringify(how)).slice(0, 16)}.js`)
  const mark = `// everytick ${ownVersion()} ${hashOf(source)}\n`
  const kept = read(path)
  if (kept?.startsWith(mark)) return kept.slice(mark.length)
  const code = compile()
  keep(folder, path, mark + code)
  return code
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

const WRITABLE_BY_OTHERS = 0o022

/** What another user wrote, or may have written, is not executed. */
function read(path: string): string | null {
  try {
    const { uid, mode } = statSync(path)
    const isOurs = process.getuid === undefined || (uid === process.getuid() && (mode & WRITABLE_BY_OTHERS) === 0)
    return isOurs ? readFileSync(path, 'utf8') : null
  } catch {
    return null
  }
}

/** Whole or not at all, since another process may read it meanwhile; a folder that cannot be written costs time only. */
function keep(folder: string, path: string, text: string): void {
  const draft = `${path}.${process.pid}`
  try {
    mkdirSync(folder, { recursive: true, mode: OWNER_FOLDER })
    if (readdirSync(folder).length >= MAX_KEPT) empty(folder)
    writeFileSync(draft, text, { mode: OWNER_FILE })
    renameSync(draft, path)
  } catch {
    // Compiled again the next time.
  }
}

function empty(folder: string): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { force: true })
}
