/** Splits the text after the time into the command and, after the first `%`, its standard input; and joins them again. */

export interface Spoken {
  /** The text for the shell. */
  readonly command: string
  /** Null without standard input. */
  readonly stdin: string | null
}

/** As cron does: `\%` is a percent sign, the first unescaped `%` ends the command, later ones are newlines. */
export function splitPercent(text: string): Spoken {
  let command = ''
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (character === '%') return { command, stdin: readInput(text.slice(at + 1)) }
    if (character !== '\\' || at + 1 === text.length) command += character
    else {
      at++
      // Cron removes a backslash only before a percent sign, but a backslash also escapes a backslash.
      command += text[at] === '%' ? '%' : `\\${text[at]}`
    }
  }
  return { command, stdin: null }
}

/** Here a backslash escapes only a percent sign. */
function readInput(text: string): string | null {
  if (text === '') return null
  const read = text.replaceAll(/\\%|%/g, (found) => (found === '%' ? '\n' : '%'))
  return read.endsWith('\n') ? read : `${read}\n`
}

/** The text that `splitPercent` splits into these parts, or null if there is none. */
export function joinPercent({ command, stdin }: Spoken): string | null {
  const escaped = command.replaceAll('%', '\\%')
  const text = stdin === null ? escaped : `${escaped}%${inputText(stdin)}`
  if (/[\n\r\0]/.test(text)) return null
  const read = splitPercent(text)
  return read.command === command && read.stdin === stdin ? text : null
}

function inputText(stdin: string): string {
  // Cron adds the final newline itself, unless the last line is empty.
  const open = stdin.endsWith('\n') ? stdin.slice(0, -1) : stdin
  const said = open === '' || open.endsWith('\n') ? stdin : open
  return said.replaceAll('%', '\\%').replaceAll('\n', '%')
}
