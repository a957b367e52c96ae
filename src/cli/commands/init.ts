/** `everytick init`: creates a small working project; existing files stay unchanged. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { askYes } from '../ask-yes.ts'
import type { Io } from '../io.ts'
import { OWNER_FILE, OWNER_FOLDER } from '../owner-only.ts'
import { printable } from '../print.ts'
import { UsageError } from '../usage-error.ts'
import { starterFiles } from './init-files.ts'

export interface InitOptions {
  readonly yes?: boolean
  readonly dryRun?: boolean
}

export async function init(folder: string, options: InitOptions, io: Io): Promise<void> {
  const place = resolve(folder)
  const files = starterFiles(packageName(basename(place)))
  const [kept, fresh] = [
    files.filter(({ path }) => isThere(place, path)),
    files.filter(({ path }) => !isThere(place, path)),
  ]
  const { colours } = await io.view()
  const tell = (): void => {
    for (const { path } of kept) io.write(`  ${colours.dim('kept')}   ${printable(join(folder, path))}\n`)
    for (const { path } of fresh)
      io.write(`  ${options.dryRun ? 'would write' : colours.green('wrote')}  ${printable(join(folder, path))}\n`)
  }
  if (options.dryRun) return tell()
  // Overwrites nothing, so it asks only on a terminal.
  if (fresh.length > 0 && io.around.asks)
    await askYes(io, `${fresh.length} files in ${relative('.', place) || 'this folder'}`, { yes: options.yes ?? false })
  write(place, fresh)
  tell()
  const go = place === process.cwd() ? '' : `cd ${printable(folder)} && `
  const needs = kept.some(({ path }) => path === 'package.json') ? 'npm install everytick' : 'npm install'
  io.note(`\n  Next: ${go}${needs} && npx everytick dev\n`)
}

const isThere = (place: string, path: string): boolean => existsSync(join(place, path))

function write(place: string, files: ReturnType<typeof starterFiles>): void {
  try {
    mkdirSync(place, { recursive: true, mode: OWNER_FOLDER })
    // `wx`: a file created since the check stays unchanged.
    for (const { path, text } of files) writeFileSync(join(place, path), text, { flag: 'wx', mode: OWNER_FILE })
  } catch (cause) {
    throw new UsageError(`cannot write the project: ${(cause as Error).message}`, { code: 'FILE_FAILED', cause })
  }
}

/** A valid npm package name. */
const packageName = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '') || 'my-schedules'
