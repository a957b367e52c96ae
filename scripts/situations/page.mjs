/** Writes docs/operate/situations.md from the table, so that what is documented is what is judged. */

const list = (values, none = 'nothing') => (values.length === 0 ? none : values.map((each) => `\`${each}\``).join(', '))
const STORES = { postgres: 'Postgres', sqlite: 'SQLite' }
const cell = (text) => text.replaceAll('|', '\\|')

function doctorText(doctor) {
  if (Array.isArray(doctor)) return doctor.map(doctorText).join(', or ')
  if (doctor.postgres) return `Postgres: ${doctorText(doctor.postgres)}; SQLite: ${doctorText(doctor.sqlite)}`
  const { exit, code, says = {}, cause = null } = doctor
  const found = Object.entries(says).map(([check, level]) => `\`${check}\` ${level}`)
  return `exit ${exit}${code ? `, \`${code}\`` : found.length > 0 ? `: ${found.join(', ')}` : ', all ok'}${cause === null ? '' : `, "${cause.source}"`}`
}

const metricText = ({ of, series, is, value, on }) =>
  `${of}: \`${series} ${is} ${value}\`${on ? ` (${STORES[on]} only)` : ''}`

function ruleText([id, ...args]) {
  return `\`everytick alert-rules set default-${id} ${args.join(' ')}\``
}

function rowText({ name, when = '', opens, may, stays, doctor, prometheus }) {
  const kinds = opens.map(({ kind }) => kind)
  const shown =
    opens.map(({ kind, on }) => `\`${kind}\`${on ? ` (${STORES[on]}; elsewhere perhaps)` : ''}`).join(', ') || 'nothing'
  const others = may.map(({ kind, on }) => `\`${kind}\`${on ? ` (${STORES[on]})` : ''}`)
  const alerts = [shown, ...(others.length > 0 ? [`perhaps ${others.join(', ')}`] : [])].join('; ')
  const ends = kinds.length === 0 ? '' : stays.length > 0 ? 'after its window of 1 h' : 'by itself'
  return `| [${name}](#${name.replaceAll(' ', '-')}) | ${alerts} | ${when} | ${ends} | ${cell(doctorText(doctor))} | ${list(prometheus, '')} |`
}

function sectionText({ name, what, metrics, lines, rules, note, needsDisk }) {
  const shown = metrics.filter(({ when }) => when === 'during').map(metricText)
  const logged = lines.map(
    ({ of, level, message, optional, on }) =>
      `${of}, ${level}: \`${message.source}\`${optional ? ' (perhaps)' : ''}${on ? ` (${STORES[on]})` : ''}`,
  )
  return [
    `### ${name}`,
    '',
    `${what}${note === '' ? '' : ` ${note}`}${needsDisk ? ' Needs root, for a small disk; otherwise it is left out.' : ''}`,
    '',
    ...(shown.length > 0 ? [`- Metrics meanwhile: ${shown.join('; ')}`] : []),
    logged.length > 0
      ? `- Log lines to look at: ${logged.join('; ')}`
      : '- Log lines to look at: none but those of alerts',
    ...(rules.length > 0 ? [`- Rules made quicker for the script: ${rules.map(ruleText).join(', ')}`] : []),
    '',
  ]
}

export function pageText(situations) {
  return [
    '<!-- Written by `npm run situations -- --page` from scripts/situations/table.mjs. -->',
    '# Ten situations',
    '',
    'What alerts, `everytick doctor`, metrics and logs say when things go wrong on a machine with two processes: `everytick serve`, which plans,',
    'and `everytick worker --port`, which has the jobs. `npm run situations` plays each of them with the built program on Postgres and on',
    'one SQLite file, and holds what it sees to this table. Rules are those of every installation; where one takes more than two minutes, the',
    'script makes it quicker, as listed below.',
    '',
    '| Situation | Alerts that open | When | They end | `doctor` meanwhile | Prometheus rules |',
    '|---|---|---|---|---|---|',
    ...situations.map(rowText),
    '',
    'An alert that ends by itself does so 2 m after its reason is gone (`resolveAfter` of its rule).',
    '',
    'No other alert opens, and afterwards:',
    '',
    '- `doctor` ends with exit 0 and finds nothing but the alerts that have not ended.',
    '- Both processes can be scraped: `everytick_store_up` is 1, nothing is behind, no row is orphaned, no occurrence has two runs.',
    '- `everytick audit` finds every occurrence accounted for.',
    '- Every alert was sent to the channel. Each loop that failed wrote at most one line in ten seconds.',
    '',
    'The Prometheus rules are those of [deploy/prometheus-rules.yaml](../../deploy/prometheus-rules.yaml). They wait longer than the script: it checks',
    'the figures that they are made of. `up` is what Prometheus itself writes down of each target it scrapes: 0 when it did not answer.',
    '`EverytickProcessDown` is made of it. `absent(everytick_store_up)` is true only when no target at all has answered.',
    '',
    ...situations.flatMap(sectionText),
  ].join('\n')
}
