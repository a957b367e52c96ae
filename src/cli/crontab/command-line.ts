/** The crontab command for a schedule: the command of its job if known, otherwise `everytick trigger`. */
import { scheduleText } from '../schedule-name.ts'
import { joinPercent } from './percent.ts'

/** The parts of a command; see `targets/command/spoken.ts`. */
export interface Program {
  readonly file: string
  readonly args: readonly string[] | null
  readonly shell: string | null
  readonly stdin: string | null
  readonly cwd: string | null
  readonly env: Readonly<Record<string, string>>
}

export interface Line {
  /** Null when a crontab cannot express it. */
  readonly text: string | null
  readonly shell: string
  readonly env: Readonly<Record<string, string>>
  /** Whether it is the command itself, not `everytick trigger`. */
  readonly isCommand: boolean
}

const SHELL = '/bin/sh'

export function lineOf(
  schedule: { readonly workspace: string; readonly key: string },
  program: Program | null,
  home: string,
): Line {
  const spoken = program === null ? null : spokenBy(program)
  if (program === null || spoken === null) {
    const name = scheduleText(schedule)
    const command = `everytick trigger ${name.startsWith('-') ? '-- ' : ''}${word(name)}`
    return { text: joinPercent({ command, stdin: null }), shell: SHELL, env: {}, isCommand: false }
  }
  const { cwd, env, stdin } = program
  // Cron starts commands in the home folder.
  const isHome = cwd === null || cwd === (env.HOME || home)
  const command = isHome ? spoken.command : `cd ${word(cwd)} && ${spoken.command}`
  return { text: joinPercent({ command, stdin }), shell: spoken.shell, env, isCommand: true }
}

/** Null when the command needs the payload. */
function spokenBy({ file, args, shell }: Program): { readonly command: string; readonly shell: string } | null {
  if (args === null) return null
  if (shell !== null) return args.length === 0 ? { command: file, shell } : null
  const [option, text, ...more] = args
  // Cron runs `SHELL -c`, and needs the absolute path of the shell.
  if (file.startsWith('/') && option === '-c' && text !== undefined && more.length === 0)
    return { command: text, shell: file }
  return { command: [file, ...args].map(word).join(' '), shell: SHELL }
}

/** Quotes one shell word. */
const word = (text: string): string => (/^[\w@:./+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
