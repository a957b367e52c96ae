/** The message of `everytick serve` without any API key: the commands to run next, with the given database and file. */
import { shellWord } from './shell-word.ts'

export interface GivenToServe {
  readonly config?: string | undefined
  readonly db?: string | undefined
  /** The store of the configuration, if it is an address that `keys` would not find without --db. */
  readonly configStore?: string | undefined
}

export function serveWithoutKeysText({ config, db, configStore }: GivenToServe): string {
  const where = (address: string | undefined): string =>
    address === undefined ? '' : ` --db ${shellWord(withoutPassword(address))}`
  const file = config === undefined ? '' : ` --config ${shellWord(config)}`
  const serve = `everytick serve${file}${where(db)}`
  return [
    'this server has no API key yet, so it would reject every request',
    '',
    '  Either create a key with full rights (printed once):',
    `    everytick keys create --name admin --scope admin${where(db ?? configStore)}`,
    `    ${serve}`,
    '',
    '  Or start with a one-time link that creates the first key:',
    `    ${serve} --setup`,
    '',
    '  On your own machine, "everytick dev" needs no API key.',
  ].join('\n')
}

/** The text may be logged. */
const withoutPassword = (address: string): string => address.replace(/^(\w+:\/\/[^:/@]*):[^@]*@/, '$1:PASSWORD@')
