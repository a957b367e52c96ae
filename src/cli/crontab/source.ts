/** Reads the text of a crontab and what its path implies; also compares and writes the jobs file. */
import { existsSync } from 'node:fs'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { OWNER_FILE } from '../owner-only.ts'
import { UsageError } from '../usage-error.ts'

export interface Source {
  /** For display. */
  readonly name: string
  readonly text: string
  /** True for the paths of system crontabs, which have a user on each line; undefined when the path is not conclusive. */
  readonly system: boolean | undefined
}

/** The longest crontabs have a few thousand lines. */
const MAX_BYTES = 4 * 1024 * 1024

export async function readSource(file: string): Promise<Source> {
  const name = file === '-' ? 'standard input' : basename(file)
  const bytes = file === '-' ? await fromInput() : await fromFile(file)
  if (bytes.length > MAX_BYTES) throw new UsageError(`${name} is larger than 4 MiB`)
  const isSystem = file !== '-' && /^\/etc\/(?:crontab$|cron\.d\/)/.test(resolve(file))
  return { name, text: bytes.toString('utf8'), system: isSystem || undefined }
}

async function fromInput(): Promise<Buffer> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of process.stdin) {
    parts.push(part as Buffer)
    size += (part as Buffer).length
    if (size > MAX_BYTES) break
  }
  return Buffer.concat(parts)
}

async function fromFile(file: string): Promise<Buffer> {
  try {
    const { size } = await stat(file)
    if (size > MAX_BYTES) throw new UsageError(`${basename(file)} is larger than 4 MiB`)
    return await readFile(file)
  } catch (cause) {
    throw unreadable(file, cause)
  }
}

function unreadable(file: string, cause: unknown): Error {
  if (cause instanceof UsageError) return cause
  const { code } = cause as NodeJS.ErrnoException
  return new UsageError(`cannot read ${file} (${code})`, {
    code: code === 'ENOENT' ? 'FILE_MISSING' : 'FILE_FAILED',
    cause,
  })
}

export type OutState = 'new' | 'same' | 'differs'

/** Compares a file with its expected content. */
export async function outState(file: string, text: string): Promise<OutState> {
  if (!existsSync(file)) return 'new'
  try {
    return (await readFile(file, 'utf8')) === text ? 'same' : 'differs'
  } catch (cause) {
    throw unreadable(file, cause)
  }
}

export interface OutFile {
  readonly file: string
  readonly text: string
  /** Whether to overwrite an existing file. */
  readonly force: boolean
}

/** Without force, a file created since the comparison stays unchanged. */
export async function writeOut({ file, text, force }: OutFile): Promise<void> {
  try {
    await writeFile(file, text, { mode: OWNER_FILE, flag: force ? 'w' : 'wx' })
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new UsageError(`cannot write ${file} (${code})`, {
      code: code === 'EEXIST' ? 'FILE_EXISTS' : 'FILE_FAILED',
      ...(code === 'EEXIST' ? { hint: 'pass --force to overwrite it, or --out with another name' } : {}),
      cause,
    })
  }
}
