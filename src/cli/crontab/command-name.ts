/** Finds the main program of a shell command, to name its job and schedule; the caller makes names unique. */

/** Words that only prepare the work, such as `cd` and tests. */
const PREPARING = new Set(['cd', 'test', '[', '[[', 'export', '.', 'source', 'umask', 'sleep', 'set', 'ulimit', 'if'])
/** Programs that run another program, which is then the work. */
const WRAPPING = new Set([
  ...[
    'nice',
    'ionice',
    'sudo',
    'env',
    'nohup',
    'timeout',
    'flock',
    'exec',
    'time',
    'chronic',
    'cronic',
    'setsid',
    'su',
  ],
  ...['run-parts', 'then', 'command', 'systemd-cat', 'chrt', 'taskset', 'run-one', 'lockrun', 'setlock', 'stdbuf'],
  ...['sh', 'bash', 'zsh', 'ksh', 'dash', 'python', 'python2', 'python3', 'php', 'perl', 'ruby', 'node', 'npx', 'java'],
])
const MAX_LENGTH = 60
/** Long enough to find a name. */
const MAX_READ = 2000

export function commandName(command: string): string {
  const parts = command
    .slice(0, MAX_READ)
    .split(/&&|\|\||[;|\n]/)
    .map(wordsOf)
    .filter((words) => words.length > 0)
  const work = parts.find(([first]) => !PREPARING.has(first!)) ?? parts[0] ?? []
  const at = work.findIndex((word, i) => !isBesides(word, work[i - 1]))
  const [name = work[0] ?? '', verb] = at < 0 ? [] : work.slice(at)
  const both = [withoutEnding(baseOf(name)), verb !== undefined && /^[a-z][a-z\d:_-]*$/i.test(verb) ? verb : '']
  return slug(both.join('-')) || 'job'
}

/** Without brackets, quotes and variable assignments. */
const wordsOf = (part: string): string[] =>
  (part.match(/(?:"[^"]*"|'[^']*'|\S)+/g) ?? [])
    .map((word) => word.replaceAll(/^[({"'`$]+|[)}"'`;]+$/g, ''))
    .filter((word) => word !== '' && !/^[A-Za-z_]\w*=/.test(word) && !/^[<>&\d]*[<>]/.test(word))

/** Options, numbers, durations, lock files, users, and programs that only run another. */
const isBesides = (word: string, before: string | undefined): boolean =>
  /^-[ugw]$/i.test(before ?? '') || WRAPPING.has(baseOf(word)) || /^(?:[-+].*|[\d.]+[smhd]?|.*\.?lock)$/i.test(word)

const baseOf = (word: string): string => word.replace(/\/+$/, '').split('/').at(-1)!
const withoutEnding = (word: string): string => word.replace(/\.(?:sh|bash|py|php|pl|rb|[cm]?[jt]s|jar)$/i, '')

export const slug = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z\d._]+/g, '-')
    .replaceAll(/^[-.]+|[-.]+$/g, '')
    .slice(0, MAX_LENGTH)
