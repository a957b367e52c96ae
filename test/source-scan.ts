/** Reads just enough TypeScript to tell code from comments, texts and patterns, and to find imports; it judges nothing. */

export interface Scan {
  /** The source with every comment, and the inside of every text and pattern, turned into blanks of the same length. */
  readonly code: string
  /** The inside of each quoted text, by the position of its opening quote. */
  readonly texts: ReadonlyMap<number, string>
  /** The written parts of templates, by the position where each begins. */
  readonly templates: ReadonlyMap<number, string>
}

const WORDS_BEFORE_A_PATTERN = /(?:^|[^\w$.])(?:return|typeof|case|in|of|do|else|void|delete|throw|new|yield|await)$/

/** What comes before a slash tells a pattern from a division; TypeScript leaves no other way to know. */
function opensPattern(before: string): boolean {
  const last = before.trimEnd()
  return last === '' || /[(,=:[!&|?{};+\-*%~^<>]$/.test(last) || WORDS_BEFORE_A_PATTERN.test(last)
}

function endOfPattern(source: string, from: number): number {
  let inClass = false
  for (let at = from + 1; at < source.length; at += 1) {
    const char = source[at]
    if (char === '\\') at += 1
    else if (char === '[') inClass = true
    else if (char === ']') inClass = false
    else if (char === '\n' || (char === '/' && !inClass)) return at
  }
  return source.length
}

function endOfText(source: string, from: number): number {
  const quote = source[from]
  for (let at = from + 1; at < source.length; at += 1) {
    if (source[at] === '\\') at += 1
    else if (source[at] === quote || source[at] === '\n') return at
  }
  return source.length
}

/** Where the written part of a template that goes on at `from` stops: at its closing backtick or at the next `${`. */
function endOfTemplatePart(source: string, from: number): number {
  for (let at = from; at < source.length; at += 1) {
    if (source[at] === '\\') at += 1
    else if (source[at] === '`' || source.startsWith('${', at)) return at
  }
  return source.length
}

export function scan(source: string): Scan {
  const texts = new Map<number, string>()
  const templates = new Map<number, string>()
  const holes: number[] = [] // for each template we are inside of, how many braces its `${` part has open
  let code = ''
  let at = 0
  const copy = (to: number): void => {
    code += source.slice(at, to)
    at = to
  }
  const blank = (to: number): void => {
    code += source.slice(at, to).replace(/[^\n]/g, ' ')
    at = to
  }
  const template = (): void => {
    const end = endOfTemplatePart(source, at)
    templates.set(at, source.slice(at, end))
    blank(end)
    if (source[at] === '`') copy(at + 1)
    else if (at < source.length) {
      holes.push(0)
      copy(at + 2)
    }
  }
  if (source.startsWith('#!')) blank(source.indexOf('\n'))
  while (at < source.length) {
    const char = source[at] as string
    if (source.startsWith('//', at)) blank(orEnd(source, source.indexOf('\n', at)))
    else if (source.startsWith('/*', at)) blank(orEnd(source, source.indexOf('*/', at) + 2, 1))
    else if (char === '"' || char === "'") {
      const end = endOfText(source, at)
      texts.set(at, source.slice(at + 1, end))
      copy(at + 1)
      blank(end)
      copy(Math.min(end + 1, source.length))
    } else if (char === '`') {
      copy(at + 1)
      template()
    } else if (char === '/' && opensPattern(code.slice(-200))) {
      const end = endOfPattern(source, at)
      copy(at + 1)
      blank(end)
      copy(Math.min(end + 1, source.length))
    } else if (char === '{' && holes.length > 0) {
      holes[holes.length - 1]! += 1
      copy(at + 1)
    } else if (char === '}' && holes.length > 0) {
      const open = holes.pop() as number
      copy(at + 1)
      if (open > 0) holes.push(open - 1)
      else template()
    } else copy(at + 1)
  }
  return { code, texts, templates }
}

/** `indexOf` answers -1 for "nowhere", which here means the end of the source; `atLeast` allows for an added length. */
function orEnd(source: string, found: number, atLeast = -1): number {
  return found <= atLeast ? source.length : found
}

/** Every specifier this source imports or re-exports, in order; a computed `import(…)` is listed as '(computed)'. */
export function importsOf({ code, texts }: Scan): string[] {
  const before = /(?:\bfrom|(?<![.\w$])import|\brequire\s*\(|(?<![.\w$])import\s*\()\s*(?=["'])|(?<![.\w$])import\s*\(/g
  return Array.from(code.matchAll(before), (match) => texts.get(match.index + match[0].length) ?? '(computed)')
}

/** Every text and part of a template that has a blank in it, and so may be a sentence, with the line on which it begins. */
export function proseOf(source: string): [line: number, text: string][] {
  const { texts, templates } = scan(source)
  return [...texts, ...templates]
    .filter(([, text]) => text.includes(' '))
    .sort(([a], [b]) => a - b)
    .map(([at, text]) => [source.slice(0, at).split('\n').length, text])
}
