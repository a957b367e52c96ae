/** Reads who asks for a change, as revisions and journals keep it; what they may ask for is decided elsewhere. */
import { readName, refused } from '../options.ts'
import type { Core, InTransaction } from './core.ts'

export interface By {
  /** Who asks for it; the name of the app when absent, or `api` where it has none. */
  readonly by?: string
}

/** Whoever asks for a change, and the transaction that it is part of. */
export interface ChangeOptions extends By, InTransaction {}

/** Names of Everytick's own: what `sync` paused is resumed, and in the end removed, by itself. */
const OWN = ['sync', 'everytick', 'overlap']

export function readBy({ settings: { name } }: Core, { by }: By): string {
  if (by === undefined) return name === '' || OWN.includes(name) ? 'api' : name
  if (OWN.includes(by))
    throw refused(`by cannot be "${by}", which stands for Everytick itself`, 'name whoever asks for it')
  return readName(by, 'by')
}
