/** Parses words such as `tag:mail workspace:t_42 report` into REST filters. */
import { UsageError } from './usage-error.ts'

export type Words = Readonly<Record<string, string>>

const WORD = /^([a-z]+)[:=](.*)$/su

interface Known {
  readonly names: readonly string[]
  /** Whether words without a name are a text search. */
  readonly text: boolean
}

export const SCHEDULE_FILTERS: Known = {
  names: ['workspace', 'job', 'tag', 'source', 'paused', 'health', 'text'],
  text: true,
}
export const RUN_FILTERS: Known = { names: ['workspace', 'schedule', 'job', 'queue', 'status'], text: false }

/** Each name at most once; words without a name form one search text. */
export function readFilters(words: readonly string[], { names, text }: Known): Words {
  const found: Record<string, string> = {}
  const put = (name: string, value: string): void => {
    if (found[name] !== undefined) throw new UsageError(`${name} is given twice`, { hint: 'give it once' })
    found[name] = value
  }
  const free: string[] = []
  for (const word of words) {
    const [, name, value] = WORD.exec(word) ?? []
    if (name === undefined && text) free.push(word)
    else if (name === undefined || !names.includes(name)) throw unknown(word, names)
    else if (value === '') throw new UsageError(`${word} has no value`, { hint: `write ${name}:value` })
    else put(name, value!)
  }
  if (free.length > 0) put('text', free.join(' '))
  return found
}

const unknown = (word: string, names: readonly string[]): UsageError =>
  new UsageError(`Unknown filter ${JSON.stringify(word)}`, {
    hint: `use ${names.map((name) => `${name}:…`).join(', ')}`,
  })

/** For `GET /schedules`. */
export function scheduleQuery({ text, paused, ...words }: Words): Record<string, string | boolean> {
  return {
    ...words,
    ...(text === undefined ? {} : { q: text }),
    ...(paused === undefined ? {} : { enabled: !readBoolean(paused, 'paused') }),
  }
}

/** For `POST /operations`; `all` selects everything. */
export function scheduleFilter(words: readonly string[]): Record<string, string | boolean> {
  if (isAll(words)) return { all: true }
  const { paused, health, ...rest } = readFilters(words, SCHEDULE_FILTERS)
  if (health !== undefined)
    throw new UsageError('--where does not support health', { hint: 'filter by tag, job or workspace' })
  return { ...rest, ...(paused === undefined ? {} : { paused: readBoolean(paused, 'paused') }) }
}

export const isAll = (words: readonly string[]): boolean => words.length === 1 && words[0] === 'all'

function readBoolean(text: string, name: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  throw new UsageError(`${name} must be true or false, not ${text}`)
}
