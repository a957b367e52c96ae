/** Finds the place in a source file where a mutant goes: by the name of a declaration and a few of its tokens, whatever the formatting. */
import { parseAst } from 'rolldown/parseAst'

const TOKEN = /[\p{L}\p{N}_$]+|\S/gu
const isWord = (token) => /[\p{L}\p{N}_$]/u.test(token)
const isOpening = (token) => /[([{,]/.test(token)

/** Matches the same tokens with any whitespace between them, and with or without a trailing comma before a closing bracket. */
export function patternOf(find) {
  let pattern = ''
  let before = ''
  for (const token of find.match(TOKEN) ?? []) {
    if (before) pattern += isWord(before) && isWord(token) ? '\\s+' : '\\s*'
    if (before && /[)\]}]/.test(token) && !isOpening(before)) pattern += '(?:,\\s*)?'
    pattern += token.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
    before = token
  }
  return pattern
}

/** Where the tokens stand in the top-level declaration `in`: every place, since only exactly one is right. */
export function placesOf(text, edit) {
  const spans = declarationsOf(text).filter(({ name }) => name === edit.in)
  const pattern = new RegExp(patternOf(edit.find), 'gu')
  return spans.flatMap(({ start, end }) =>
    Array.from(text.slice(start, end).matchAll(pattern), (match) => {
      return { start: start + match.index, end: start + match.index + match[0].length }
    }),
  )
}

/** The text with every edit made; all places are found before the first is changed, so that no edit hides another. */
export function withEdits(text, edits) {
  const changes = edits.map((edit) => {
    const places = placesOf(text, edit)
    if (places.length !== 1) throw new Error(`found ${places.length} times in ${edit.in} of ${edit.file}: ${edit.find}`)
    return { ...places[0], replace: edit.replace }
  })
  let mutated = text
  for (const { start, end, replace } of changes.sort((one, other) => other.start - one.start))
    mutated = mutated.slice(0, start) + replace + mutated.slice(end)
  return mutated
}

/** Every named top-level declaration with the span of its whole statement. */
export function declarationsOf(text) {
  return parseAst(text, { lang: 'ts' }).body.flatMap((statement) => {
    const declaration = statement.declaration ?? statement
    const names = declaration.declarations?.map(({ id }) => id.name) ?? [declaration.id?.name]
    return names.filter(Boolean).map((name) => ({ name, start: statement.start, end: statement.end }))
  })
}
