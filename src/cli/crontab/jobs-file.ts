/** Writes the commands of a crontab as jobs in TypeScript, so that people can read and keep them; whether the file may be written is decided elsewhere. */
import type { PlannedJob } from './plan-import.ts'

const HEAD = `/** Commands of a crontab, by \`everytick import crontab\`. From here on they are yours: change them as you like. */`

export function jobsFile(jobs: readonly PlannedJob[]): string {
  const atHome = jobs.some(({ cwd }) => cwd === null)
  return [
    ...[HEAD, ...(atHome ? [`import { homedir } from 'node:os'`] : []), `import { command } from 'everytick'`, ''],
    ...['export const crontab = [', ...jobs.flatMap(jobLines), ']', ''],
  ].join('\n')
}

function jobLines({ name, command, shell, stdin, cwd, env, user }: PlannedJob): string[] {
  const fields = [
    ['name', quoted(name)],
    ...programOf(command, shell),
    ...(stdin === null ? [] : [['stdin', quoted(stdin)]]),
    ['cwd', cwd === null ? 'homedir()' : quoted(cwd)],
    ...(Object.keys(env).length === 0 ? [] : [['env', `{ ${variables(env)} }`]]),
  ]
  return [
    ...(user === null ? [] : [`  // Cron ran it as ${user.replaceAll(/[^\w.:/$-]/g, '?')}.`]),
    ...['  command({', ...fields.map(([field, text]) => `    ${field}: ${text},`), '  }),'],
  ]
}

/** `file` holds no longer text than this, and only a shell with its whole path is one. */
const MAX_FILE = 4096

function programOf(command: string, shell: string | null): string[][] {
  if (command.length <= MAX_FILE && (shell === null || shell.startsWith('/')))
    return [
      ['shell', shell === null ? 'true' : quoted(shell)],
      ['file', quoted(command)],
    ]
  return [
    ['file', quoted(shell ?? '/bin/sh')],
    ['args', `[${quoted('-c')}, ${quoted(command)}]`],
  ]
}

const variables = (env: Readonly<Record<string, string>>): string =>
  Object.entries(env)
    .map(([name, value]) => `${name === '__proto__' ? `['${name}']` : name}: ${quoted(value)}`)
    .join(', ')

/** A string of TypeScript that holds this text, whatever is in it. */
export const quoted = (text: string): string =>
  `'${text.replaceAll(/['\\]/g, '\\$&').replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/gu, escaped)}'`

const escaped = (character: string): string =>
  character === '\n' ? '\\n' : character === '\t' ? '\\t' : `\\u{${character.codePointAt(0)!.toString(16)}}`
