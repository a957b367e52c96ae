/** Makes text safe to show: whatever could command a terminal, hide text or begin a line is written as its code. */

// Control, formatting and direction marks, lone surrogates and unassigned codes: what could command a terminal or hide text.
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu

/** What a name cannot hold: two names that look the same would be two, and one could turn the text around it. */
const INVISIBLE =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}\u2800]|(?![\ufe0e\ufe0f])\p{Default_Ignorable_Code_Point}|(?<!\p{Extended_Pictographic})[\ufe0e\ufe0f]/u

/** The code of the first character that does not show, such as `U+202E`: control, direction and formatting characters, line separators, fillers, half a character. Null when all show. */
export function invisibleIn(text: string): string | null {
  const found = INVISIBLE.exec(text)?.[0]
  return found === undefined ? null : `U+${found.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
}

/** The same text with everything a terminal might obey written as its code; data goes through here before it is shown. */
export const printable = (text: string): string =>
  text.replace(UNPRINTABLE, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)

/** The same for text that a logger may take for a format: no `%` in it stands before what a format would replace. */
export const logMessage = (text: string): string => printable(text).replace(/%(?=[a-z%])/gi, '\\u{25}')

/** One line of JSON that is also safe to show: JSON itself lets C1 controls and direction marks through raw. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value).replace(UNPRINTABLE, (character) =>
    Array.from(
      { length: character.length },
      (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join(''),
  )
