/** What a line of a crontab has done, by which shell, where and with which variables; and which of its settings Everytick leaves out. */
import type { Entry } from './read-crontab.ts'

export interface Note {
  /** Null when it is about the whole file. */
  readonly line: number | null
  readonly text: string
}

export interface Work {
  readonly command: string
  readonly stdin: string | null
  /** Null for /bin/sh, which cron takes when nobody says another. */
  readonly shell: string | null
  /** HOME, where cron starts commands; null for that of whoever runs them. */
  readonly cwd: string | null
  readonly env: Readonly<Record<string, string>>
  readonly user: string | null
}

/** Cron's own, or of no use without its mail. */
const NOT_FOR_COMMANDS = new Set([
  ...['CRON_TZ', 'RANDOM_DELAY', 'MAILTO', 'MAILFROM', 'CONTENT_TYPE', 'CONTENT_TRANSFER_ENCODING'],
  // Cron lets nobody change who they are.
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
    'MAILTO: no mail is sent. What a command prints is kept with its run, and alerts tell of failures',
  ],
  ['TZ', () => true, 'TZ is what the commands see; when they run is decided by CRON_TZ, as cron does'],
  ['RANDOM_DELAY', (value) => !/^\s*\d{1,4}\s*$/.test(value), 'RANDOM_DELAY is a number of minutes; it is left out'],
]

/** Once for each, at the line that first says it. */
export function notesOf(entries: readonly Entry[]): readonly Note[] {
  return REMARKS.flatMap(([name, isMeant, text]) => {
    const found = entries.map(({ settings }) => settings.get(name)).find((each) => each && isMeant(each.value))
    return found ? [{ line: found.line, text }] : []
  })
}
