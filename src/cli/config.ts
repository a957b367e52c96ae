/** What the command line learns from outside its arguments: environment, terminals, its own version; nothing else reads the environment. */
export { ownVersion } from '../server/version.ts'

export interface Surroundings {
  /** Someone reads standard output on a terminal, so tables suit better than tab-separated rows. */
  readonly terminal: boolean
  /** Someone can be asked. */
  readonly asks: boolean
  /** How many characters a line of the terminal has. */
  readonly columns: number
  readonly outColours: boolean
  readonly errColours: boolean
}

export function surroundings(): Surroundings {
  const plain = Boolean(process.env.NO_COLOR) || process.env.TERM === 'dumb'
  const terminal = process.stdout.isTTY === true
  return {
    terminal,
    asks: terminal && process.stdin.isTTY === true,
    columns: process.stdout.columns || 80,
    outColours: terminal && !plain,
    errColours: process.stderr.isTTY === true && !plain,
  }
}

export interface Whereabouts {
  /** EVERYTICK_URL: the address of a server. */
  readonly url: string | undefined
  /** EVERYTICK_TOKEN: a key of that server. */
  readonly token: string | undefined
  /** DATABASE_URL: a database to talk to without a server. */
  readonly db: string | undefined
}

export const whereabouts = (): Whereabouts => ({
  url: process.env.EVERYTICK_URL || undefined,
  token: process.env.EVERYTICK_TOKEN || undefined,
  db: process.env.DATABASE_URL || undefined,
})

/** For a process that we start: what this one was given, and what it should know besides. */
export const environmentWith = (besides: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  ...process.env,
  ...besides,
})

/** XDG_CACHE_HOME: where programs of this user keep what they can make again, instead of `.cache` in the home folder. */
export const cacheHome = (): string | undefined => process.env.XDG_CACHE_HOME || undefined

const SECRET = 'EVERYTICK_SECRET_'
const HOSTS = '_HOSTS'

/**
 * EVERYTICK_SECRET_<NAME>: what schedules may name instead of saying it. Where there is EVERYTICK_SECRET_<NAME>_HOSTS too, a
 * list separated by commas, only these are told.
 */
export function namedSecrets(): Record<string, string | { value: string; hosts: string[] }> {
  const found = Object.entries(process.env).filter(([key, value]) => key.startsWith(SECRET) && value)
  const values = new Map(found.map(([key, value]) => [key.slice(SECRET.length), value!]))
  const isHosts = (name: string): boolean => name.endsWith(HOSTS) && values.has(name.slice(0, -HOSTS.length))
  const names = [...values.keys()].filter((name) => name !== '' && !isHosts(name))
  return Object.fromEntries(
    names.map((name) => {
      // Also when it is empty: that is refused then, and not read as any host.
      const [value, hosts] = [values.get(name)!, process.env[`${SECRET}${name}${HOSTS}`]]
      return [name, hosts === undefined ? value : { value, hosts: hosts.split(',').map((host) => host.trim()) }]
    }),
  )
}

const FOR_COMMANDS = /^(?:PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TZ|LANG|LANGUAGE|LC_[A-Z]+)$/

/** What commands may know of our environment: where things are and how people here write, and no secret. */
export const commandEnvironment = (): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => FOR_COMMANDS.test(name)))
