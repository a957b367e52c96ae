/** Previews what storing schedules would change, and finds the schedules that the backend rejects; writes nothing. */
import type { Backend } from '../backend.ts'
import type { ShownChange } from '../changes-text.ts'
import { EXIT } from '../exit.ts'
import { UsageError } from '../usage-error.ts'
import type { Declared } from './apply-file.ts'

export interface Preview extends Pick<ShownChange, 'workspace' | 'key' | 'before' | 'after' | 'paused' | 'nextFireAt'> {
  readonly action: 'create' | 'update' | 'none'
}

const AT_ONCE = 100
/** Maximum number of errors listed. */
const MAX_LISTED = 10

export async function previewAll(backend: Backend, declared: readonly Declared[]): Promise<readonly Preview[]> {
  const found: Preview[] = []
  const refusals: Refused[] = []
  for (let from = 0; from < declared.length; from += AT_ONCE) {
    const some = declared.slice(from, from + AT_ONCE)
    try {
      found.push(...(await preview(backend, some)))
    } catch (error) {
      if (!isRefusal(error)) throw error
      refusals.push(...(await refusedOf(backend, some)))
    }
  }
  if (refusals.length > 0) throw together(refusals)
  return found
}

async function preview(backend: Backend, some: readonly Declared[]): Promise<readonly Preview[]> {
  const body = { schedules: some.map((each) => each.body) }
  return (await backend.ask<{ readonly data: readonly Preview[] }>('POST', '/preview', { body })).data
}

interface Refused {
  readonly place: string
  readonly error: UsageError
}

/** One by one, because the response to a batch names only the first invalid schedule. */
async function refusedOf(backend: Backend, some: readonly Declared[]): Promise<Refused[]> {
  const refused: Refused[] = []
  for (const each of some) {
    try {
      await preview(backend, [each])
    } catch (error) {
      if (!isRefusal(error)) throw error
      refused.push({ place: each.place, error })
    }
    if (refused.length === MAX_LISTED) break
  }
  return refused
}

const isRefusal = (error: unknown): error is UsageError =>
  error instanceof UsageError && (error.exit === EXIT.usage || error.exit === EXIT.auth)

/** Keeps the path within the schedule; the path within the request means nothing to the author of the file. */
const wordsOf = ({ message }: UsageError): string => {
  const [, field, rest] = /^\/schedules\/\d+(\S*): ([\s\S]*)$/.exec(message) ?? []
  return rest === undefined
    ? `: ${message}`
    : `: ${field === '' ? '' : `${field!.slice(1).replaceAll('/', '.')} `}${rest}`
}

function together(refusals: readonly Refused[]): UsageError {
  const [first] = refusals
  const { exit, code, hint } = first!.error
  const lines = refusals.slice(0, MAX_LISTED).map(({ place, error }) => `${place}${wordsOf(error)}`)
  const advice = refusals.length === 1 ? hint : undefined
  return new UsageError(lines.join('\n'), {
    code,
    otherwise: exit === EXIT.auth ? 'auth' : 'usage',
    cause: first!.error,
    hint: advice ?? 'nothing was written',
  })
}
