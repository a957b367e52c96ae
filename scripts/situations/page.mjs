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
    `${what}${note === '' ? '' : ` ${note}`}${needsDisk ? ' Needs root, for a small disk; without root the script skips it.' : ''}`,
    '',
    ...(shown.length > 0 ? [`- Metrics meanwhile: ${shown.join('; ')}`] : []),
    logged.length > 0 ? `- Log lines: ${logged.join('; ')}` : '- Log lines to look at: only those of alerts',
    ...(rules.length > 0 ? [`- Rules shortened for the script: ${rules.map(ruleText).join(', ')}`] : []),
    '',
  ]
}

export function pageText(situations) {
  return [
    '<!-- Written by `npm run situations -- --page` from scripts/situations/table.mjs. -->',
    '# Ten situations',
    '',
    'What alerts, `everytick doctor`, metrics and logs report in ten situations, on a machine with two processes: `everytick serve`, which plans,',
    'and `everytick worker --port`, which executes the runs. `npm run situations` plays each situation with the built program on Postgres and on',
    'one SQLite file, and compares the result with this table. The rules are the defaults. If a rule takes more than two minutes, the',
    'script shortens it, as listed below.',
    '',
    '| Situation | Alerts that open | When | They end | `doctor` meanwhile | Prometheus rules |',
    '|---|---|---|---|---|---|',
    ...situations.map(rowText),
    '',
    'An alert that ends by itself does so 2 m after its cause is gone (`resolveAfter` of its rule).',
    '',
    'No other alert opens, and afterwards:',
    '',
    '- `doctor` exits with 0 and reports only the alerts that have not ended.',
    '- Both processes can be scraped: `everytick_store_up` is 1, no queue is behind, no row is orphaned, no occurrence has two runs.',
    '- `everytick audit` finds every occurrence accounted for.',
    '- Every alert was sent to the channel. Each failing loop wrote at most one line in ten seconds.',
    '',
    'The Prometheus rules are those of [deploy/prometheus-rules.yaml](../../deploy/prometheus-rules.yaml). They wait longer than the script, which checks',
    'the metrics they are based on. Prometheus itself records `up` of each target that it scrapes: 0 when the target did not answer.',
    '`EverytickProcessDown` is based on it. `absent(everytick_store_up)` is true only when no target at all has answered.',
    '',
    ...situations.flatMap(sectionText),
  ].join('\n')
}
