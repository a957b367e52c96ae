/** Caches compiled sources, so that an unchanged file is not compiled again; the caller chooses the folder. */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ownVersion } from './config.ts'
import { OWNER_FILE, OWNER_FOLDER } from './owner-only.ts'

export interface Compiling {
  readonly filename: string
  readonly source: string
}

/** Limits the cache, because deleted files leave entries behind, mostly in a folder that projects share. */
const MAX_KEPT = 500

/** One entry per file and compiler options, so that the folder does not grow with every change. */
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

/** Does not execute files that another user wrote or could have written. */
function read(path: string): string | null {
  try {
    const { uid, mode } = statSync(path)
    const isOurs = process.getuid === undefined || (uid === process.getuid() && (mode & WRITABLE_BY_OTHERS) === 0)
    return isOurs ? readFileSync(path, 'utf8') : null
  } catch {
    return null
  }
}

/** Writes atomically, because another process may read the file; an unwritable folder only costs time. */
function keep(folder: string, path: string, text: string): void {
  const draft = `${path}.${process.pid}`
  try {
    mkdirSync(folder, { recursive: true, mode: OWNER_FOLDER })
    if (readdirSync(folder).length >= MAX_KEPT) empty(folder)
    writeFileSync(draft, text, { mode: OWNER_FILE })
    renameSync(draft, path)
  } catch {
    // The next load compiles it again.
  }
}

function empty(folder: string): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { force: true })
}
