/** Reads and writes the lines of a crontab that set a variable, by cron's rules of quoting; what a variable means is decided elsewhere. */

export interface Setting {
  readonly name: string
  readonly value: string
}

const BLANKS = ' \t\v\f'
const isBlank = (character: string | undefined): boolean => character !== undefined && BLANKS.includes(character)

/** Null when the line sets nothing, and so must be an entry. Blanks around `=` are allowed, nothing is expanded, nothing escaped. */
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

/** A name that a shell could hold; anything else is rather an entry that somebody mistyped. */
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

/** The line that sets this, or null when no crontab can say it. */
export function settingLine({ name, value }: Setting): string | null {
  const line = [`${name}=${value}`, `${name}="${value}"`, `${name}='${value}'`].find((each) => {
    const read = /[\n\r\0]/.test(each) ? null : readSetting(each)
    return read !== null && read.name === name && read.value === value
  })
  return line === undefined ? null : value === '' ? `${name}=""` : line
}
