/** Turns rows and settings into tables of Markdown; which tables the page has, and in which order, is decided there. */
import { aimMet, betterOf, met } from '../report.mjs'
import { commitText, figure, machineText, mustText, timesText, whenText } from '../words.mjs'

/** Text that somebody else wrote, such as the message of an error, as nothing but text on one line. */
export const plain = (text) =>
  text
    .replace(/[<*]/g, (mark) => (mark === '<' ? '&lt;' : '\\*'))
    .replace(/\s+/g, ' ')
    .trim()
const cell = (text) => plain(text).replaceAll('|', '\\|')
const line = (cells) => `| ${cells.join(' | ')} |`
const table = (head, rows) => [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')

/** Ours, every rival, the limit, how far ahead, and what we asked of ourselves. */
export function figuresTable(rows) {
  const rivals = [...new Set(rows.flatMap((row) => Object.keys(row.rivals)))]
  const names = [...rivals.filter((name) => name !== 'limit'), ...(rivals.includes('limit') ? ['limit'] : [])]
  const compared = rivals.length > 0
  const head = [
    '',
    '**everytick**',
    ...names.map((name) => (name === 'limit' ? '*bare SQL*' : name)),
    ...(compared ? ['we are'] : []),
    ...['must', 'aim', ''],
  ]
  return table(
    head,
    rows.map((row) => [
      question(row),
      `**${figure(row.ours)}**${spread(row.spread)}`,
      ...names.map((name) => {
        const rival = row.rivals[name]
        return rival === undefined ? '' : `${figure(rival.value)}${spread(rival.spread)}`
      }),
      ...(compared ? [ratio(row)] : []),
      cell(mustText(row)),
      aimMet(row) === null ? '' : `${betterOf(row) === 'more' ? '≥' : '≤'} ${figure(row.aim)}`,
      judged(row),
    ]),
  )
}

const question = ({ short, continues, unit }) =>
  `${continues ? '… ' : ''}${cell(short)}${unit === '' ? '' : `, ${cell(unit)}`}`

const spread = (range) => (range === undefined ? '' : `<br>${figure(range[0])} – ${figure(range[1])}`)

/** Against the rival the target names, else the best, else the limit. */
function ratio({ rivals, must, best }) {
  const name = must?.rival ?? best ?? Object.keys(rivals)[0]
  if (rivals[name] === undefined) return ''
  return `${timesText(rivals[name].ratio)} ${name === 'limit' ? 'bare SQL' : name}`
}

function judged(row) {
  const [must, aim] = [met(row), aimMet(row)]
  if (must === false) return '**missed**'
  const words = [...(must ? ['met'] : []), ...(aim === null ? [] : [aim ? 'aim met' : 'aim not met'])]
  return words.join(', ')
}

/** Where and when each result was made, and with what. */
export const placesTable = (results) =>
  table(
    ['benchmark', 'measured', 'machine', 'of', 'versions'],
    results.map(({ benchmark, store, partNames, measuredAt, machine, commit, versions }) => [
      `${benchmark}${store === null ? '' : `, ${store}`}${partNames === undefined ? '' : `: ${partNames.join(', ')}`}`,
      whenText(measuredAt),
      cell(machineText(machine)),
      commitText(commit),
      cell(listed(versions)),
    ]),
  )

/** Settings that are objects belong to a contender or a database; the others are sizes of the benchmark itself. */
export function settingsTable(settings) {
  const groups = Object.entries(settings).filter(([name, value]) => isGroup(value) && name !== 'absent')
  if (groups.length === 0) return []
  const rows = groups.map(([name, value]) => [name, `\`${pairs(value).replaceAll('`', "'")}\``])
  return [table(['whose', 'settings'], rows)]
}

export const sizesText = (settings) =>
  pairs(Object.fromEntries(Object.entries(settings).filter(([, value]) => !isGroup(value))))

const isGroup = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
const listed = (versions) =>
  Object.entries(versions)
    .map(([name, version]) => `${name} ${version ?? 'unknown'}`)
    .join(', ')
const pairs = (value) =>
  Object.entries(value)
    .map(([name, item]) => `${name}: ${typeof item === 'string' ? item : JSON.stringify(item)}`)
    .join(', ')
    .replaceAll('|', '\\|')
