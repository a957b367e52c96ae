/** The work of a crontab line: command, shell, folder and variables; and the settings that Everytick ignores. */
import type { Entry } from './read-crontab.ts'

export interface Note {
  /** Null when it concerns the whole file. */
  readonly line: number | null
  readonly text: string
}

export interface Work {
  readonly command: string
  readonly stdin: string | null
  /** Null for /bin/sh, the default of cron. */
  readonly shell: string | null
  /** HOME, where cron starts commands; null for the home folder of the worker's user. */
  readonly cwd: string | null
  readonly env: Readonly<Record<string, string>>
  readonly user: string | null
}

/** Variables of cron itself, or only for its mail. */
const NOT_FOR_COMMANDS = new Set([
  ...['CRON_TZ', 'RANDOM_DELAY', 'MAILTO', 'MAILFROM', 'CONTENT_TYPE', 'CONTENT_TRANSFER_ENCODING'],
  // Cron does not let a crontab change the user.
  ...['SHELL', 'LOGNAME', 'USER'],
])

export function workOf({ command, stdin, settings, user }: Entry): Work {
  const said = (name: string): string | null => settings.get(name)?.value || null
  const env = [...settings].filter(([name]) => !NOT_FOR_COMMANDS.has(name)).map(([name, { value }]) => [name, value])
  return {
    ...{ command, stdin, shell: said('SHELL') === '/bin/sh' ? null : said('SHELL') },
    ...{ cwd: said('HOME'), env: Object.fromEntries(env) as Record<string, string>, user },
  }
}

const REMARKS: readonly (readonly [name: string, isMeant: (value: string) => boolean, text: string])[] = [
  [
    'MAILTO',
    (value) => value !== '',
    'MAILTO: Everytick sends no mail. The log of a run keeps the output of its command, and alerts report failures',
  ],
  ['TZ', () => true, 'TZ only sets the environment of the commands; CRON_TZ sets when they run, as in cron'],
  [
    'RANDOM_DELAY',
    (value) => !/^\s*\d{1,4}\s*$/.test(value),
    'RANDOM_DELAY must be a number of minutes, so it is ignored',
  ],
]

/** One note per setting, at the first line that has it. */
export function notesOf(entries: readonly Entry[]): readonly Note[] {
  return REMARKS.flatMap(([name, isMeant, text]) => {
    const found = entries.map(({ settings }) => settings.get(name)).find((each) => each && isMeant(each.value))
    return found ? [{ line: found.line, text }] : []
  })
}
