/** How the race is printed: for each question a line for every contender, medians with their spread and how many times better we are. */
import { met } from '../report.mjs'

export function reportText({ quick, ok, machine, versions, settings, rows }) {
  const facts = Object.entries({ ...machine, ...versions }).map(([name, value]) => `${name} ${value ?? 'unknown'}`)
  const lines = rows.flatMap((row) => [[row.what, '', '', '', ''], ...contenders(row), ...verdictLine(row, quick)])
  const out = Object.entries(settings.absent).map(([name, why]) => `  not in the race: ${name} (${why})`)
  const end = quick ? 'quick run: figures mean nothing' : ok ? 'every target met' : 'TARGET MISSED'
  return `rivals  ${facts.join(' · ')}\n\n${grid([HEADING, ...lines])}\n\n${[...out, end].join('\n')}\n`
}

const HEADING = ['', 'median', 'least – most', 'we are', '']

function contenders({ ours, spread, unit, rivals, best }) {
  const line = (name, figure, ratio, mark) => [
    `  ${name}`,
    `${amount(figure.value)} ${unit}`,
    `${amount(figure.spread[0])} – ${amount(figure.spread[1])}`,
    ratio,
    mark,
  ]
  const names = Object.keys(rivals).sort((a, b) => rivals[a].ratio - rivals[b].ratio)
  return [
    line('everytick', { value: ours, spread }, '', ''),
    ...names.map((name) => line(name, rivals[name], times(rivals[name].ratio), name === best ? 'best rival' : '')),
  ]
}

function verdictLine(row, quick) {
  if (row.must === null) return []
  const word = quick ? '' : met(row) ? 'ok' : 'MISS'
  return [['', '', `must be ${row.must.value}× ${row.must.rival}`, times(row.rivals[row.must.rival].ratio), word]]
}

const times = (ratio) => `${ratio >= 10 ? Math.round(ratio) : ratio.toFixed(2)}×`
const amount = (value) => value.toLocaleString('en', { maximumFractionDigits: value >= 100 ? 0 : value >= 10 ? 1 : 2 })

/** The first and the last column read from the left, figures line up on the right. */
function grid(lines) {
  const widths = lines[0].map((_, i) => Math.max(...lines.slice(1).map((line) => line[i].length), lines[0][i].length))
  // A question is longer than any name, and has its line to itself.
  widths[0] = Math.max(...lines.filter((line) => line[1] !== '').map((line) => line[0].length))
  const cell = (text, i) => (i === 0 || i === 4 ? text.padEnd(widths[i]) : text.padStart(widths[i]))
  return lines.map((line) => `  ${line.map(cell).join('  ')}`.trimEnd()).join('\n')
}
