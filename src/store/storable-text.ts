/** Text as every database can hold it, for what must be kept whoever wrote it; names that people look for are refused instead. */

/** A NUL, and half of a surrogate pair without the other. */
const UNSTORABLE = /\0|\p{Surrogate}/gu

export const storableText = (text: string): string => text.replaceAll(UNSTORABLE, '\ufffd')
