/** Generates readable TypeScript jobs from the commands of a crontab; the caller writes the file. */
import type { PlannedJob } from './plan-import.ts'

const HEAD = `/** Commands of a crontab, written by \`everytick import crontab\`. This file is yours: edit it as you like. */`

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

/** `file` has a length limit, and a shell must be an absolute path. */
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

/** A TypeScript string literal for any text. */
export const quoted = (text: string): string =>
  `'${text.replaceAll(/['\\]/g, '\\$&').replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/gu, escaped)}'`

const escaped = (character: string): string =>
  character === '\n' ? '\\n' : character === '\t' ? '\\t' : `\\u{${character.codePointAt(0)!.toString(16)}}`
