/** Writes a word so that a shell reads it back as it is. */
export const shellWord = (text: string): string =>
  /^[\w./:@=+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
