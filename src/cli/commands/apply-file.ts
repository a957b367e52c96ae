/** Reads schedules from a YAML or JSON file with one or more documents, each a schedule or a list; the backend validates them. */
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { shown } from '../../errors.ts'
import { UsageError } from '../usage-error.ts'

export interface Declared {
  /** The location for messages. */
  readonly place: string
  readonly body: Readonly<Record<string, unknown>> & { readonly key: string; readonly workspace?: string }
}

/** The largest realistic files are a few megabytes. */
const MAX_BYTES = 32 * 1024 * 1024

export async function readDocuments(file: string): Promise<readonly Declared[]> {
  const name = file === '-' ? 'standard input' : basename(file)
  const text = file === '-' ? await readInput() : await readText(file)
  if (Buffer.byteLength(text) > MAX_BYTES) throw new UsageError(`${name} is larger than 32 MiB`)
  return declaredIn(await parse(text, name), name)
}

/** Exported for its tests: turns parsed documents into schedules; throws if one is not a schedule. */
export function declaredIn(documents: readonly unknown[], name: string): readonly Declared[] {
  const found = documents.flat().filter((each) => each !== null)
  if (found.length === 0) throw new UsageError(`${name} contains no schedules`)
  const declared = found.map((body, i) => asDeclared(body, found.length === 1 ? name : `${name}, schedule ${i + 1}`))
  const places = new Map<string, string>()
  for (const { body, place } of declared) {
    const id = JSON.stringify([body.workspace ?? null, body.key])
    const other = places.get(id)
    if (other !== undefined) throw new UsageError(`${place}: ${other} has the same key ${shown(body.key)}`)
    places.set(id, place)
  }
  return declared
}

function asDeclared(body: unknown, place: string): Declared {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new UsageError(`${place} is not a schedule, but ${shown(body)}`, {
      hint: 'a schedule needs key, job and one of cron, every, at or any',
    })
  const { key, workspace } = body as { readonly key?: unknown; readonly workspace?: unknown }
  if (typeof key !== 'string' || key === '') throw new UsageError(`${place} has no key`, { hint: 'add key: <name>' })
  if (workspace !== undefined && typeof workspace !== 'string')
    throw new UsageError(`${place}: workspace must be text, not ${shown(workspace)}`)
  return { place: `${place} (${key})`, body: body as Declared['body'] }
}

async function parse(text: string, name: string): Promise<readonly unknown[]> {
  if (/^\s*[[{]/.test(text)) {
    try {
      return [JSON.parse(text)]
    } catch {
      // YAML may start like this too, and its parser has better error messages.
    }
  }
  const { parseAllDocuments } = await import('yaml')
  const documents = parseAllDocuments(text)
  if (!Array.isArray(documents)) return []
  return documents.map((document) => {
    const [error] = document.errors
    if (error) throw unreadable(error, name)
    try {
      return document.toJS() as unknown
    } catch (cause) {
      throw unreadable(cause as Error, name)
    }
  })
}

interface Located {
  readonly message: string
  readonly linePos?: readonly { readonly line: number }[]
}

function unreadable(error: Located, name: string): UsageError {
  const line = error.linePos?.[0]?.line
  const [message = ''] = error.message.split(/ at line |\n/)
  return new UsageError(`${name}${line === undefined ? '' : `:${line}`} cannot be read: ${message}`, { cause: error })
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new UsageError(`cannot read ${file} (${code})`, {
      code: code === 'ENOENT' ? 'FILE_MISSING' : 'FILE_FAILED',
      cause,
    })
  }
}

async function readInput(): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of process.stdin) parts.push(part as Buffer)
  return Buffer.concat(parts).toString('utf8')
}
