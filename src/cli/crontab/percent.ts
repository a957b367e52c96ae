/** Takes apart what a crontab says after the time: the command, and after the first `%` what the command reads; and puts it together again. */

export interface Spoken {
  /** What the shell is given. */
  readonly command: string
  /** Null when there is nothing to read. */
  readonly stdin: string | null
}

/** As cron does it: `\%` is a percent sign, the first plain one ends the command, later ones end lines. */
export function splitPercent(text: string): Spoken {
  let command = ''
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (character === '%') return { command, stdin: readInput(text.slice(at + 1)) }
    if (character !== '\\' || at + 1 === text.length) command += character
    else {
      at++
      // Only before a percent sign does a backslash go away; it guards another one all the same.
      command += text[at] === '%' ? '%' : `\\${text[at]}`
    }
  }
  return { command, stdin: null }
}

/** Here a backslash guards nothing but the percent sign behind it. */
function readInput(text: string): string | null {
  if (text === '') return null
  const read = text.replaceAll(/\\%|%/g, (found) => (found === '%' ? '\n' : '%'))
  return read.endsWith('\n') ? read : `${read}\n`
}

/** The text that `splitPercent` takes apart like this, or null when there is none. */
export function joinPercent({ command, stdin }: Spoken): string | null {
  const escaped = command.replaceAll('%', '\\%')
  const text = stdin === null ? escaped : `${escaped}%${inputText(stdin)}`
  if (/[\n\r\0]/.test(text)) return null
  const read = splitPercent(text)
  return read.command === command && read.stdin === stdin ? text : null
}

function inputText(stdin: string): string {
  // Cron ends the last line itself, unless that line is empty.
  const open = stdin.endsWith('\n') ? stdin.slice(0, -1) : stdin
  const said = open === '' || open.endsWith('\n') ? stdin : open
  return said.replaceAll('%', '\\%').replaceAll('\n', '%')
}
