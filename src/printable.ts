/** Escapes characters that could control a terminal, hide text or start a line, so that text is safe to display. */

// Control, formatting and direction marks, lone surrogates and unassigned codes can control a terminal or hide text.
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu

/** Characters that names reject: they make different names look the same, and can reverse the text around them. */
const INVISIBLE =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}\u2800]|(?![\ufe0e\ufe0f])\p{Default_Ignorable_Code_Point}|(?<!\p{Extended_Pictographic})[\ufe0e\ufe0f]/u

/** The code of the first invisible character, such as `U+202E`, or null: control, direction and formatting characters, line separators, fillers, lone surrogates. */
export function invisibleIn(text: string): string | null {
  const found = INVISIBLE.exec(text)?.[0]
  return found === undefined ? null : `U+${found.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
}

/** Escapes everything a terminal might interpret; user data passes through here before it is displayed. */
export const printable = (text: string): string =>
  text.replace(UNPRINTABLE, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)

/** Like `printable`, for loggers that read their first argument as a format: also escapes `%` placeholders. */
export const logMessage = (text: string): string => printable(text).replace(/%(?=[a-z%])/gi, '\\u{25}')

/** One line of JSON that is safe to display: JSON itself does not escape C1 controls and direction marks. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value).replace(UNPRINTABLE, (character) =>
    Array.from(
      { length: character.length },
      (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join(''),
  )
