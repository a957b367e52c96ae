/** The rules a source tree can break, each answering with its breaches in words; the drawing they hold it to is handed in. */
import { posix } from 'node:path'
import { importsOf, type Scan, scan } from './source-scan.ts'

export interface Source {
  /** Relative to src/, with forward slashes. */
  readonly path: string
  readonly text: string
  readonly scan: Scan
  readonly imports: readonly string[]
}

export interface Drawing {
  /** Each room with the rooms it may import from, separated by blanks. */
  readonly arrows: Readonly<Record<string, string>>
  /** Files at the root of the tree that belong to a room. */
  readonly rootFiles: Readonly<Record<string, string>>
  /** Files at the root that users import from; they may import whatever they publish. */
  readonly doors: ReadonlySet<string>
}

export function sourceOf(path: string, text: string): Source {
  const scanned = scan(text)
  return { path, text, scan: scanned, imports: importsOf(scanned) }
}

/** The room a file lives in, 'door', or undefined when the drawing has no place for it. */
function roomOf(path: string, { arrows, rootFiles, doors }: Drawing): string | undefined {
  if (!path.includes('/')) return doors.has(path) ? 'door' : rootFiles[path]
  return Object.keys(arrows)
    .filter((room) => path.startsWith(`${room}/`))
    .sort((a, b) => b.length - a.length)[0]
}

const isRelative = (specifier: string): boolean => specifier.startsWith('.')

const targetOf = (path: string, specifier: string): string => posix.join(posix.dirname(path), specifier)

export function filesWithoutRoom(files: readonly Source[], drawing: Drawing): string[] {
  return files.map(({ path }) => path).filter((path) => roomOf(path, drawing) === undefined)
}

export function arrowsToTheRight(files: readonly Source[], drawing: Drawing): string[] {
  return files.flatMap(({ path, imports }) => {
    const from = roomOf(path, drawing)
    if (from === 'door') return []
    const allowed = new Set([from, ...(drawing.arrows[from ?? ''] ?? '').split(' ')])
    return imports
      .filter(isRelative)
      .map((specifier) => targetOf(path, specifier))
      .filter((target) => !allowed.has(roomOf(target, drawing)))
      .map((target) => `${path} → ${target}: ${from} may not import ${roomOf(target, drawing) ?? 'from outside'}`)
  })
}

/** Imports of anything but files of this tree, Node's own modules, and the packages a user gets with ours. */
export function foreignImports(files: readonly Source[], packages: ReadonlySet<string>): string[] {
  const known = new Set(files.map(({ path }) => path))
  const isForeign = (path: string, specifier: string): boolean => {
    if (isRelative(specifier)) return !known.has(targetOf(path, specifier))
    const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
    return !specifier.startsWith('node:') && !packages.has(name)
  }
  return files.flatMap(({ path, imports }) =>
    imports.filter((specifier) => isForeign(path, specifier)).map((specifier) => `${path} → ${specifier}`),
  )
}

/** Imports of the tests in test/: what they share with a test in the tree would make the tree depend on them. */
export function importsOfTests(files: readonly Source[]): string[] {
  return files.flatMap(({ path, imports }) =>
    imports
      .filter((specifier) => isRelative(specifier) && targetOf(path, specifier).startsWith('../test/'))
      .map((specifier) => `${path} → ${specifier}`),
  )
}

/** Each circle of imports once, found by a walk that remembers the way it came. */
export function importCircles(files: readonly Source[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const done = new Set<string>()
  const circles: string[] = []
  const walk = (path: string, way: readonly string[]): void => {
    if (way.includes(path)) circles.push([...way.slice(way.indexOf(path)), path].join(' → '))
    if (way.includes(path) || done.has(path)) return
    for (const specifier of byPath.get(path)?.imports ?? [])
      if (isRelative(specifier)) walk(targetOf(path, specifier), [...way, path])
    done.add(path)
  }
  for (const { path } of files) walk(path, [])
  return circles
}

const READS_CLOCK = [
  /\bDate\s*\.\s*now\b/,
  /\bDate\s*\(\s*\)/, // with or without `new`
  /\bnew\s+Date\b(?!\s*\()/,
  /\bperformance\s*\.\s*(?:now|timeOrigin)\b/,
  /\bprocess\s*\.\s*(?:hrtime|uptime)\b/,
  /\bTemporal\s*\.\s*Now\b/,
]

export function clockReaders(files: readonly Source[]): string[] {
  return files.filter((file) => READS_CLOCK.some((read) => read.test(file.scan.code))).map(({ path }) => path)
}

const READS_ENVIRONMENT = [/\bprocess\s*\??\.\s*env\b/, /\bprocess\s*\[/, /\benv\b[^;{}]*\}\s*=\s*process\b/]

export function environmentReaders(files: readonly Source[]): string[] {
  const reads = ({ scan: { code }, imports }: Source): boolean =>
    imports.includes('node:process') || READS_ENVIRONMENT.some((read) => read.test(code))
  return files.filter(reads).map(({ path }) => path)
}

/** Files that do not open with a doc comment holding a sentence; a program may have its first line before it. */
export function filesWithoutSentence(files: readonly Source[]): string[] {
  const opens = ({ text }: Source): boolean => {
    const start = text.replace(/^#![^\n]*\n/, '')
    const end = start.indexOf('*/')
    const inside = start.slice('/**'.length, end).replace(/^\s*\*/gm, '')
    return /^\/\*\*\s/.test(start) && end > 0 && /\w/.test(inside) && /[.!?]\s*$/.test(inside)
  }
  return files.filter((file) => !opens(file)).map(({ path }) => path)
}

const EMPTY_NAMES = /^(?:utils?|helpers?|types?|managers?|misc|common|lib|interfaces|classes|enums)$/
const EMPTY_WORDS = /(?:^|-)(?:utils?|helpers?|managers?)(?:-|$)/
const KEBAB_CASE = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

export function emptyNames(files: readonly Source[]): string[] {
  const isEmpty = (name: string): boolean => EMPTY_NAMES.test(name) || EMPTY_WORDS.test(name) || !KEBAB_CASE.test(name)
  return files.map(({ path }) => path).filter((path) => path.replace(/\.ts$/, '').split('/').some(isEmpty))
}
