/** Reads and writes the variable lines of a crontab, with cron's quoting rules. */

export interface Setting {
  readonly name: string
  readonly value: string
}

const BLANKS = ' \t\v\f'
const isBlank = (character: string | undefined): boolean => character !== undefined && BLANKS.includes(character)

/** Null when the line is not a setting, and so must be an entry. Allows blanks around `=`; cron has no expansion and no escapes. */
export function readSetting(line: string): Setting | null {
  const name = readName(line)
  if (name === null) return null
  let at = skipBlanks(line, name.end)
  if (line[at] !== '=') return null
  at = skipBlanks(line, at + 1)
  const quote = line[at]
  if (quote !== '"' && quote !== "'") return { name: name.text, value: trimmed(line.slice(at)) }
  const end = line.indexOf(quote, at + 1)
  if (end < 0 || skipBlanks(line, end + 1) < line.length) return null
  return { name: name.text, value: line.slice(at + 1, end) }
}

/** A valid shell variable name; anything else is more likely a mistyped entry. */
function readName(line: string): { readonly text: string; readonly end: number } | null {
  const [, quote = '', text = ''] = /^(["']?)([A-Za-z_]\w*)\1/.exec(line) ?? []
  const end = text.length + 2 * quote.length
  if (text === '' || !(line[end] === '=' || isBlank(line[end]))) return null
  return { text, end }
}

function skipBlanks(line: string, from: number): number {
  let at = from
  while (isBlank(line[at])) at++
  return at
}

function trimmed(text: string): string {
  let end = text.length
  while (end > 0 && isBlank(text[end - 1])) end--
  return text.slice(0, end)
}

/** The line that sets this variable, or null when a crontab cannot express it. */
export function settingLine({ name, value }: Setting): string | null {
  const line = [`${name}=${value}`, `${name}="${value}"`, `${name}='${value}'`].find((each) => {
    const read = /[\n\r\0]/.test(each) ? null : readSetting(each)
    return read !== null && read.name === name && read.value === value
  })
  return line === undefined ? null : value === '' ? `${name}=""` : line
}
