/** Finds the pages of this repository and takes them apart into sections, tables, blocks and links; the tests judge what they say. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readText, root } from './built-package.ts'

const NOT_OURS = new Set(['node_modules', 'dist', 'coverage', '.git', '.everytick'])

/** Every file of the repository whose name ends like that, relative to its root, with forward slashes. */
export function filesEndingIn(endings: readonly string[], folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory()) return NOT_OURS.has(entry.name) ? [] : filesEndingIn(endings, path)
    return endings.some((ending) => entry.name.endsWith(ending)) ? [path] : []
  })
}

export interface Section {
  readonly title: string
  readonly text: string
}

/** The parts under each heading of the second level. */
export function sectionsOf(path: string): Section[] {
  return readText(path)
    .split(/^## /m)
    .slice(1)
    .map((part) => ({ title: part.slice(0, part.indexOf('\n')).trim(), text: part.slice(part.indexOf('\n')) }))
}

/** What stands inside the fenced blocks of one language. */
export function blocksOf(text: string, language: string): string[] {
  return Array.from(text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm))
    .filter(([, found]) => found === language)
    .map(([, , inside]) => inside!)
}

/** The rows of every table whose head begins with these cells, each row as its cells without code marks. */
export function rowsUnder(path: string, head: readonly string[]): string[][] {
  const rows: string[][] = []
  let inside = false
  for (const line of readText(path).split('\n')) {
    const cells = line.startsWith('|')
      ? line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim().replaceAll('`', ''))
      : []
    if (cells.length === 0) inside = false
    else if (head.every((cell, at) => cells[at] === cell)) inside = true
    else if (inside && !cells[0]!.startsWith('---')) rows.push(cells)
  }
  return rows
}

/** Where the links of a page lead, without those that leave the repository. */
export function linksOf(text: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '')
  return Array.from(prose.matchAll(/\]\(([^)\s]+)\)/g), ([, target]) => target!).filter((to) => !/^[a-z]+:/.test(to))
}

/** The name a heading gets as the target of a link. */
export const anchorsOf = (text: string): string[] =>
  Array.from(text.matchAll(/^#+ (.+)$/gm), ([, title]) =>
    title!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  )
