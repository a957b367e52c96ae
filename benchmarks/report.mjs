/**
 * What a measurement looks like and whether it met its target. A row is
 * `{ id, what, unit, ours, rivals: { name: { value, ratio } }, must: null | { kind, value } }`, where a must of kind
 * `ratio` also names the rival it is against.
 */
import { execFileSync } from 'node:child_process'
import { cpus, totalmem } from 'node:os'

/** Whether a row met its target; null for a row that has none. */
export function met({ ours, rivals, must }) {
  if (must === null) return null
  if (must.kind === 'ratio') return rivals[must.rival].ratio >= must.value
  return must.kind === 'least' ? ours >= must.value : ours <= must.value
}

/** Null for a quick run: it shows that the benchmark works, and its figures mean nothing. */
export const verdict = (rows, quick) => (quick ? null : rows.every((row) => met(row) !== false))

export function machineFacts() {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    platform: `${process.platform} ${process.arch}`,
    node: process.versions.node,
    commit: commit(),
  }
}

function commit() {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim()
  } catch {
    return null // an unpacked archive, or a repository without commits
  }
}

export function reportText({ benchmark, quick, ok, machine, versions, rows }) {
  const rivals = [...new Set(rows.flatMap((row) => Object.keys(row.rivals)))]
  const heading = ['', 'everytick', ...rivals.flatMap((name) => [name, 'times']), 'must', '']
  const lines = rows.map((row) => [
    row.what,
    amount(row.ours, row.unit),
    ...rivals.flatMap((name) => {
      const rival = row.rivals[name]
      return rival ? [amount(rival.value, row.unit), ratioText(rival.ratio)] : ['', '']
    }),
    mustText(row),
    quick || met(row) === null ? '' : met(row) ? 'ok' : 'MISS',
  ])
  const facts = Object.entries({ ...machine, ...versions }).map(([name, value]) => `${name} ${value ?? 'unknown'}`)
  const end = quick ? 'quick run: figures mean nothing' : ok ? 'every target met' : 'TARGET MISSED'
  return `${benchmark}  ${facts.join(' · ')}\n\n${grid([heading, ...lines])}\n\n${end}\n`
}

function mustText({ must, unit }) {
  if (must === null) return ''
  if (must.kind === 'ratio') return `≥ ${must.value}× ${must.rival}`
  return `${must.kind === 'least' ? '≥' : '≤'} ${amount(must.value, unit)}`
}

const ratioText = (ratio) => `${ratio >= 10 ? Math.round(ratio) : ratio.toFixed(1)}×`

function amount(value, unit) {
  if (value === null) return '–'
  const digits = value >= 100 ? 0 : value >= 1 ? 1 : 4
  return `${value.toLocaleString('en', { maximumFractionDigits: digits })} ${unit}`
}

/** The first column reads from the left, figures line up on the right. */
function grid(lines) {
  const widths = lines[0].map((_, i) => Math.max(...lines.map((line) => line[i].length)))
  const cell = (text, i) => (i === 0 ? text.padEnd(widths[i]) : text.padStart(widths[i]))
  return lines.map((line) => `  ${line.map(cell).join('  ')}`.trimEnd()).join('\n')
}
