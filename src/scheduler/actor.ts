/** Reads the option `by`: the name of the actor, which revisions and journals store; permissions are checked elsewhere. */
import { readName, refused } from '../options.ts'
import type { Core, InTransaction } from './core.ts'

export interface By {
  /** The actor to record; when absent the name of the app, or `api` if the app has no name. */
  readonly by?: string
}

/** The actor of a change, and the transaction that contains it. */
export interface ChangeOptions extends By, InTransaction {}

/** Names reserved for Everytick: a sync resumes, and finally removes, the schedules that `sync` paused. */
const OWN = ['sync', 'everytick', 'overlap']

export function readBy({ settings: { name } }: Core, { by }: By): string {
  if (by === undefined) return name === '' || OWN.includes(name) ? 'api' : name
  if (OWN.includes(by))
    throw refused(`by cannot be "${by}", which is reserved for Everytick`, 'use the name of a person or system')
  return readName(by, 'by')
}
