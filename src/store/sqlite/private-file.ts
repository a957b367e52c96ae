/** Keeps the file of a SQLite store to its owner: how it is created, and which files of an existing store others can open; warning is the diagnosis's. */
import { closeSync, existsSync, lstatSync, openSync, readlinkSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** SQLite gives its log, its shared memory and its journal the rights of the database. */
const BESIDE = ['', '-wal', '-shm', '-journal'] as const
const OWNER_ONLY = 0o600
const OTHERS = 0o077
/** Of symbolic links, one behind the other; the system itself follows no more. */
const MAX_LINKS = 40

/**
 * Creates the file of a new store, readable by its owner only; the umask can narrow that, and never widen it. A file that is there is
 * not even opened: closing it would release the locks that this process holds on it.
 */
export function createPrivateFile(path: string): void {
  const file = fileOf(path)
  if (file !== null) create(file, MAX_LINKS)
}

function create(file: string, links: number): void {
  if (existsSync(file) || links === 0) return
  try {
    closeSync(openSync(file, 'wx', OWNER_ONLY))
  } catch {
    // Either a link to a file that is not there yet, or something that SQLite itself reports better.
    if (isLink(file)) create(resolve(dirname(file), readlinkSync(file)), links - 1)
  }
}

function isLink(file: string): boolean {
  try {
    return lstatSync(file).isSymbolicLink()
  } catch {
    return false
  }
}

/** The file that an address of SQLite means; null for one in memory. */
function fileOf(path: string): string | null {
  if (path === '' || path === ':memory:') return null
  if (!/^file:/i.test(path)) return path
  const [name = '', query = ''] = path.split('#', 1)[0]!.split('?', 2)
  if (/(?:^|&)(?:mode=memory|vfs=)/.test(query) || /^file::memory:/i.test(name)) return null
  try {
    return /^file:\/\//i.test(name) ? fileURLToPath(name) : decodeURIComponent(name.slice('file:'.length))
  } catch {
    return null
  }
}

/** Those of a store's files that anybody but their owner can read or write. Windows keeps rights elsewhere: none there. */
export function exposedFiles(file: string): string[] {
  if (file === '' || process.platform === 'win32') return []
  return BESIDE.map((end) => file + end).filter((each) => {
    const mode = statSync(each, { throwIfNoEntry: false })?.mode
    return mode !== undefined && (mode & OTHERS) !== 0
  })
}
