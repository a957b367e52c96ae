/** What `everytick serve` says when there is no API key yet: the commands that go on from here, with the database and file that were given. */
import { shellWord } from './shell-word.ts'

export interface GivenToServe {
  readonly config?: string | undefined
  readonly db?: string | undefined
  /** The store of the configuration, when it is an address and `keys` would not find it by itself. */
  readonly configStore?: string | undefined
}

export function serveWithoutKeysText({ config, db, configStore }: GivenToServe): string {
  const where = (address: string | undefined): string =>
    address === undefined ? '' : ` --db ${shellWord(withoutPassword(address))}`
  const file = config === undefined ? '' : ` --config ${shellWord(config)}`
  const serve = `everytick serve${file}${where(db)}`
  return [
    'there is no key yet, so no request could be answered',
    '',
    '  Either create a key with full rights; it is printed once:',
    `    everytick keys create --name admin --scope admin${where(db ?? configStore)}`,
    `    ${serve}`,
    '',
    '  Or start with a link that creates the first key, once:',
    `    ${serve} --setup`,
    '',
    '  On your own machine, "everytick dev" needs no key.',
  ].join('\n')
}

/** This text may end up in a log. */
const withoutPassword = (address: string): string => address.replace(/^(\w+:\/\/[^:/@]*):[^@]*@/, '$1:PASSWORD@')
