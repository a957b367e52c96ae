/** Which results are kept, in which form, and which of them are the newest; what they mean is for others to say. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { storeOf } from './words.mjs'

export const RESULTS = new URL('./results/', import.meta.url)
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const LINE = 120
const DIGITS = 6

/** Where a measurement was made. */
export const machineFacts = () => ({
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  cores: cpus().length,
  memoryGb: Math.round(totalmem() / 2 ** 30),
  platform: `${process.platform} ${process.arch}`,
  node: process.versions.node,
})

/** Of what it was made; what a measurement itself leaves behind is no change. Null in an unpacked archive. */
export function commitFacts() {
  const git = (...args) =>
    execFileSync('git', args, { cwd: new URL('..', import.meta.url), stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim()
  try {
    const left = ['benchmarks/results', 'docs/benchmarks', 'docs/benchmarks.md'].map((path) => `:(exclude)${path}`)
    return {
      id: git('rev-parse', '--short=10', 'HEAD'),
      dirty: git('status', '--porcelain', '--', '.', ...left) !== '',
    }
  } catch {
    return null
  }
}

/** A part has a file of its own, so that it never takes the place of the whole. Answers the name of the file. */
export function keep({ ok: _, quick: __, ...result }, folder = RESULTS) {
  const name = `${nameOf(result)}.json`
  mkdirSync(folder, { recursive: true })
  // Messages of errors may name files; where the repository lies is nobody's business. A run may be broken off at any
  // moment, and what it wrote before must stay whole.
  const half = new URL(`${name}.half`, folder)
  writeFileSync(half, written(result).replaceAll(ROOT, ''))
  renameSync(half, new URL(name, folder))
  return name
}

/** What is kept of one benchmark on one store, or null. */
export const kept = (about, folder = RESULTS) =>
  readSaved(folder).find((result) => nameOf(result) === nameOf(about)) ?? null

/** All that is kept, by the names of their files. */
export function readSaved(folder = RESULTS) {
  if (!existsSync(folder)) return []
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
  return files.sort().map((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')))
}

/**
 * The newest result for each benchmark and store, with the rows it still speaks for: a whole one that is older than a
 * part speaks for the rest only, and an older part not at all.
 */
export function newestOf(results) {
  const taken = new Set()
  const newestFirst = results.toSorted((a, b) => compare(b.measuredAt, a.measuredAt) || compare(nameOf(a), nameOf(b)))
  const kept = newestFirst.map((result) => {
    const part = (row) => `${result.benchmark} ${storeOf(row)}`
    const rows = result.rows.filter((row) => !taken.has(part(row)))
    for (const row of rows) taken.add(part(row))
    return { ...result, rows }
  })
  return kept.filter(({ rows }) => rows.length > 0).sort((a, b) => compare(nameOf(a), nameOf(b)))
}

const nameOf = ({ benchmark, store }) => `${benchmark}${store === null ? '' : `-${store}`}`
const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0)

/** As the formatter of this repository wants it: short lists on one line. Digits that mean nothing are not kept. */
export function written(result) {
  const text = (value, indent, before) => {
    if (typeof value === 'number') return JSON.stringify(Number(value.toPrecision(DIGITS)))
    if (value === null || typeof value !== 'object') return JSON.stringify(value)
    const inner = `${indent}  `
    if (Array.isArray(value)) {
      const items = value.map((item) => text(item, inner, inner.length))
      const line = `[${items.join(', ')}]`
      const scalar = value.every((item) => item === null || typeof item !== 'object')
      if (scalar && before + line.length < LINE) return line
      return `[\n${items.map((item) => inner + item).join(',\n')}\n${indent}]`
    }
    const entries = Object.entries(value).filter(([, item]) => item !== undefined)
    if (entries.length === 0) return '{}'
    const lines = entries.map(([name, item]) => {
      const start = `${inner}${JSON.stringify(name)}: `
      return start + text(item, inner, start.length)
    })
    return `{\n${lines.join(',\n')}\n${indent}}`
  }
  return `${text(result, '', 0)}\n`
}
