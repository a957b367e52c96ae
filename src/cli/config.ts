/** Everything the CLI reads besides its arguments: environment, terminals, its version. No other file reads the environment. */
export { ownVersion } from '../server/version.ts'

export interface Surroundings {
  /** Standard output is a terminal, so commands print tables instead of tab-separated rows. */
  readonly terminal: boolean
  /** The CLI can ask questions: standard input and output are terminals. */
  readonly asks: boolean
  /** The width of the terminal in characters. */
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
  /** EVERYTICK_TOKEN: an API key for that server. */
  readonly token: string | undefined
  /** DATABASE_URL: a database to use without a server. */
  readonly db: string | undefined
}

export const whereabouts = (): Whereabouts => ({
  url: process.env.EVERYTICK_URL || undefined,
  token: process.env.EVERYTICK_TOKEN || undefined,
  db: process.env.DATABASE_URL || undefined,
})

/** The environment of a child process: ours plus the given variables. */
export const environmentWith = (besides: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  ...process.env,
  ...besides,
})

/** XDG_CACHE_HOME: the cache folder of this user, instead of `.cache` in the home folder. */
export const cacheHome = (): string | undefined => process.env.XDG_CACHE_HOME || undefined

const SECRET = 'EVERYTICK_SECRET_'
const HOSTS = '_HOSTS'

/**
 * EVERYTICK_SECRET_<NAME>: a secret that schedules refer to by name. EVERYTICK_SECRET_<NAME>_HOSTS, a comma-separated list,
 * limits the hosts that receive it.
 */
export function namedSecrets(): Record<string, string | { value: string; hosts: string[] }> {
  const found = Object.entries(process.env).filter(([key, value]) => key.startsWith(SECRET) && value)
  const values = new Map(found.map(([key, value]) => [key.slice(SECRET.length), value!]))
  const isHosts = (name: string): boolean => name.endsWith(HOSTS) && values.has(name.slice(0, -HOSTS.length))
  const names = [...values.keys()].filter((name) => name !== '' && !isHosts(name))
  return Object.fromEntries(
    names.map((name) => {
      // Also when it is empty: an empty list is rejected, instead of meaning any host.
      const [value, hosts] = [values.get(name)!, process.env[`${SECRET}${name}${HOSTS}`]]
      return [name, hosts === undefined ? value : { value, hosts: hosts.split(',').map((host) => host.trim()) }]
    }),
  )
}

const FOR_COMMANDS = /^(?:PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TZ|LANG|LANGUAGE|LC_[A-Z]+)$/

/** The environment variables that commands inherit: paths and locale, no secrets. */
export const commandEnvironment = (): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => FOR_COMMANDS.test(name)))
