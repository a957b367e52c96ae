/** How the race is printed: for each question a line for every contender, medians with their spread and how many times better we are. */
import { aimMet, closing, met } from '../report.mjs'
import { amount, factsText, figure, mustText, timesText } from '../words.mjs'

export function reportText({ quick, ok, settings, rows, ...result }) {
  const lines = rows.flatMap((row) => [
    [row.what, '', '', '', ''],
    ...contenders(row),
    ...verdictLine(row, quick),
    ...aimLine(row, quick),
  ])
  const out = Object.entries(settings.absent).map(([name, why]) => `  not in the race: ${name} (${why})`)
  return `${factsText(result)}\n\n${grid([HEADING, ...lines])}\n\n${[...out, closing(quick, ok)].join('\n')}\n`
}

const HEADING = ['', 'median', 'least – most', 'we are', '']

function contenders({ ours, spread, unit, rivals, best }) {
  const line = (name, { value, spread: [least, most] }, [ratio, mark]) => [
    `  ${name}`,
    amount(value, unit),
    `${figure(least)} – ${figure(most)}`,
    ratio,
    mark,
  ]
  const names = Object.keys(rivals).sort((a, b) => rivals[a].ratio - rivals[b].ratio)
  return [
    line('everytick', { value: ours, spread: spread ?? [ours, ours] }, ['', '']),
    ...names.map((name) => {
      const { value, spread: theirs = [value, value], ratio } = rivals[name]
      return line(name, { value, spread: theirs }, [timesText(ratio), name === best ? 'best rival' : ''])
    }),
  ]
}

function verdictLine(row, quick) {
  if (row.must === null) return []
  const word = quick ? '' : met(row) ? 'ok' : 'MISS'
  const reached = row.must.kind === 'ratio' ? timesText(row.rivals[row.must.rival].ratio) : ''
  return [['', '', `must be ${mustText(row)}`, reached, word]]
}

function aimLine(row, quick) {
  const reached = aimMet(row)
  if (reached === null) return []
  return [['', '', `aim ${amount(row.aim, row.unit)}`, '', quick ? '' : reached ? 'reached' : 'not reached']]
}

/** The first and the last column read from the left, figures line up on the right. */
function grid(lines) {
  const widths = lines[0].map((_, i) => Math.max(...lines.slice(1).map((line) => line[i].length), lines[0][i].length))
  // A question is longer than any name, and has its line to itself.
  widths[0] = Math.max(...lines.filter((line) => line[1] !== '').map((line) => line[0].length))
  const cell = (text, i) => (i === 0 || i === 4 ? text.padEnd(widths[i]) : text.padStart(widths[i]))
  return lines.map((line) => `  ${line.map(cell).join('  ')}`.trimEnd()).join('\n')
}
