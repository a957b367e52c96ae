/** Finds the one stored item that a command names by id, id prefix or name. */
import type { Backend } from './backend.ts'
import { listed } from './listing.ts'
import { UsageError } from './usage-error.ts'

interface Thing {
  readonly id: string
}

export interface Kind<Item extends Thing> {
  /** Such as `run`. */
  readonly noun: string
  /** The command that lists them, such as `runs ls`. */
  readonly list: string
  /** The fields that distinguish items, shown after the id. */
  readonly about: (item: Item) => readonly (string | null)[]
  /** For items that have names. */
  readonly nameOf?: (item: Item) => string
  /** Whether a name can select this item, such as a key that is not revoked; default: always. */
  readonly isMeant?: (item: Item) => boolean
}

export interface Listing<Item extends Thing> extends Kind<Item> {
  /** REST path of the list, which takes `?id=`, and `?name=` for items with names. */
  readonly path: string
}

const WHOLE = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const BEGINNING = /^-*(?:[0-9a-f]-*){4,32}$/i
const TOO_SHORT = /^[0-9a-f]{1,3}$/i
/** Candidates listed in the error. */
const SHOWN = 5

/** Returns a whole id unchanged: the command's own request reports whether the item exists. */
export async function findId<Item extends Thing>(backend: Backend, kind: Listing<Item>, text: string): Promise<string> {
  if (WHOLE.test(text)) return text.toLowerCase()
  const { path, nameOf, isMeant = () => true } = kind
  const limit = SHOWN + 1
  if (nameOf) {
    const { items } = await listed<Item>(backend, path, { query: { name: text }, limit: NAMED })
    const meant = items.filter(isMeant)
    if (meant.length > 0) return onlyOne(kind, text, meant)
  }
  if (TOO_SHORT.test(text))
    throw new UsageError(`${JSON.stringify(text)} is too short for an id`, { hint: 'give at least 4 of its digits' })
  if (!BEGINNING.test(text)) throw noSuch(kind, text)
  return onlyOne(kind, text, (await listed<Item>(backend, path, { query: { id: text }, limit })).items)
}

/** Many items may have had one name, such as a key that was rolled often. */
const NAMED = 1000

/** The same for items that come in one list, whose ids may be any text. */
export function findAmong<Item extends Thing>(items: readonly Item[], kind: Kind<Item>, text: string): string {
  if (items.some(({ id }) => id === text)) return text
  const { nameOf, isMeant = () => true } = kind
  const named = items.filter((item) => nameOf?.(item) === text && isMeant(item))
  if (named.length > 0) return onlyOne(kind, text, named)
  return onlyOne(
    kind,
    text,
    items.filter(({ id }) => text !== '' && id.startsWith(text)),
  )
}

function onlyOne<Item extends Thing>(kind: Kind<Item>, text: string, found: readonly Item[]): string {
  const [first, ...others] = found
  if (first === undefined) throw noSuch(kind, text)
  if (others.length === 0) return first.id
  const lines = found.slice(0, SHOWN).map((item) => `  ${[item.id, ...kind.about(item)].filter(Boolean).join('  ')}`)
  if (found.length > SHOWN) lines.push('  and more')
  throw new UsageError([`${JSON.stringify(text)} matches more than one ${kind.noun}:`, ...lines].join('\n'), {
    code: 'ID_AMBIGUOUS',
    hint: 'give more digits of the id',
  })
}

function noSuch<Item extends Thing>({ noun, list, nameOf }: Kind<Item>, text: string): UsageError {
  const what = nameOf ? 'has the name or the id' : 'has an id that begins with'
  return new UsageError(`no ${noun} ${what} ${JSON.stringify(text)}`, {
    code: 'NOT_FOUND',
    hint: `list them with: everytick ${list}`,
  })
}
