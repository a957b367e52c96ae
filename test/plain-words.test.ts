/** Holds the texts that users read to plain words: which words they must not use, and where they stand. Which words mean what is the glossary in ARCHITECTURE.md. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from './built-package.ts'
import { proseOf } from './source-scan.ts'

/** Each with what to write in its place. */
const UNPLAIN: readonly (readonly [RegExp, string])[] = [
  [/\b(?:nobody|somebody|whoever)\b/i, 'name the actor'],
  [/\btold\b/i, 'say who sends, reports or notifies what'],
  [/\bdear(?:er)?\b/i, 'expensive'],
  [/\banew\b/i, 'again'],
  [/\bheeds?\b/i, 'follow, respect'],
  [/\bcarr(?:y|ies|ied|ying) out\b/i, 'execute'],
  [/\b(?:made|make|makes|making) good\b/i, 'run past occurrences'],
  [/\blanes?\b/i, 'concurrency group'],
  [/\bherds?\b/i, 'spike or backlog'],
  [/\bcrowds?\b/i, 'backlog'],
  [/\brehears\w+/i, 'preview'],
  [/\bredriv\w+/i, 'retry'],
  [/\bunder way\b/i, 'in flight'],
]

const files = (folder: string, end: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(end))
    .map((path) => join(folder, path).replaceAll('\\', '/'))
    .sort()

/** Decisions and saved benchmark results keep the words of the time when they were written. */
const PAGES = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', ...files('docs', '.md')].filter(
  (path) => !path.startsWith('docs/decisions/') && path !== 'docs/benchmarks.md',
)
const SOURCES = files('src', '.ts').filter(
  (path) => !path.endsWith('.test.ts') && !path.startsWith('src/testing/conformance/'),
)

/** The rows of a glossary name the old words, and code is no prose. */
const withoutCode = (line: string): string => line.replace(/`[^`]*`/g, '')

function placesIn(path: string, lines: readonly (readonly [line: number, text: string])[]): string[] {
  return lines.flatMap(([line, text]) =>
    UNPLAIN.flatMap(([pattern, instead]) => {
      const found = pattern.exec(text.replace(/thundering herd/gi, ''))
      return found === null ? [] : [`${path}:${line} "${found[0]}": ${instead}`]
    }),
  )
}

function pageLines(path: string): [number, string][] {
  let inCode = false
  return readFileSync(join(root, path), 'utf8')
    .split('\n')
    .flatMap((text, i): [number, string][] => {
      if (/^\s*```/.test(text)) inCode = !inCode
      return inCode ? [] : [[i + 1, withoutCode(text)]]
    })
}

describe('what users read', () => {
  it('uses plain words on every page', () => {
    expect(PAGES.flatMap((path) => placesIn(path, pageLines(path)))).toEqual([])
  })

  it('uses plain words in every text of the product', () => {
    const places = SOURCES.flatMap((path) => placesIn(path, proseOf(readFileSync(join(root, path), 'utf8'))))
    expect(places).toEqual([])
  })

  it('is searched where it is written', () => {
    const source = "const a = 'nobody said it'\n// nobody\nconst b = `it was said to somebody`\n"
    expect(placesIn('a.ts', proseOf(source))).toEqual([
      'a.ts:1 "nobody": name the actor',
      'a.ts:3 "somebody": name the actor',
    ])
    expect(placesIn('a.md', [[1, withoutCode('a `lane` and a lane')]])).toEqual(['a.md:1 "lane": concurrency group'])
  })
})
