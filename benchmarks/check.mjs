/** Whether results meet what we must reach, and how that is told; the targets themselves stand with the rows, and only the list of those that must be there stands here. */

import { REQUIRED_ROWS as HTTP_ROWS } from './http/targets.mjs'
import { byCommit, missingParts, ofRow } from './parts.mjs'
import { aimMet, met } from './report.mjs'
import { newestOf } from './saved.mjs'
import { REQUIRED_ROWS as SERVER_ROWS } from './server/questions.mjs'
import { amount, commitText, machineText, mixedNotes, mustText, namedRows, timesText, whenText } from './words.mjs'

/** What must have been measured, by benchmark: a target that nobody measures is missed without a word. */
export const REQUIRED = {
  cron: ['next-five-minutes-new-york', 'next-workdays-new-york', 'next-leap-day-new-york'],
  cli: ['help', 'next'],
  server: SERVER_ROWS,
  http: HTTP_ROWS,
  core: [
    ...['postgres-fires', 'postgres-create', 'postgres-steady-1000-p50', 'postgres-steady-1000-p99'],
    ...['sqlite-enqueue-bulk', 'sqlite-drain-1', 'sqlite-fires'],
  ],
  scale: [
    ...['postgres-backlog-1000-p99', 'postgres-backlog-10000-last', 'postgres-backlog-100000-last'],
    ...['postgres-create-100000', 'postgres-create-1000000', 'postgres-recovery', 'sqlite-recovery'],
    ...['postgres', 'sqlite'].flatMap((store) => [
      ...[1000, 100_000, 1_000_000].map((count) => `${store}-idle-${count}-cpu`),
      `${store}-idle-memory-growth`,
    ]),
    ...[1000, 100_000, 1_000_000].map((count) => `postgres-idle-${count}-server`),
    ...['claim-1000000', 'claim-10000000', 'claim-snapshot', 'planning-fire', 'planning-pass'].flatMap((id) => [
      `postgres-${id}-growth`,
      `postgres-${id}-pages-growth`,
    ]),
    'postgres-planning-snapshot-fire-growth',
    ...['postgres-history-settle-growth', 'postgres-history-fire-growth', 'postgres-history-pass-growth'],
  ],
  rivals: [
    ...['postgres-enqueue', 'postgres-drain-1', 'postgres-drain-2', 'postgres-drain-2-backlog', 'postgres-drain-1-cpu'],
    ...[
      'postgres-pick-up-p50',
      'postgres-pick-up-p99',
      'postgres-backlog-10000-last',
      'sqlite-enqueue',
      'sqlite-drain-1',
    ],
  ],
}

/**
 * Answers `{ ok, text }`. With a benchmark (and a store) given, only what it has to answer is asked for; else everything.
 */
export function checkText(results, asked = {}) {
  const newest = newestOf(results)
  const rows = newest.flatMap((result) => namedRows(result.rows).map((row) => ({ ...row, result: ofRow(result, row) })))
  const held = rows.filter((row) => met(row) !== null)
  const missed = held.filter((row) => !met(row))
  const absent = absentOf(held, asked)
  const ok = missed.length === 0 && absent.length === 0
  const lines = [
    ...missed.map(missText),
    ...absent.map(({ id, benchmark }) =>
      absentText({ id, benchmark, measured: rows.some((row) => row.id === id && row.result.benchmark === benchmark) }),
    ),
    ...newest.flatMap(byCommit).map(placeText),
    ...newest.flatMap(missingText),
    ...mixedNotes(newest.flatMap(byCommit)).map((text) => `note: ${text}`),
    `${held.length - missed.length} of ${held.length} must-rows are met${ok ? '' : `, ${absent.length} are not measured`}`,
    ...aimLines(rows),
    ok ? 'every target met' : 'TARGET MISSED',
  ]
  return { ok, text: lines.join('\n') }
}

function absentOf(held, { benchmark: only, store }) {
  const there = new Set(held.map(({ id, result }) => `${result.benchmark} ${id}`))
  const other = { sqlite: 'postgres-', postgres: 'sqlite-' }[store]
  return Object.entries(REQUIRED)
    .filter(([benchmark]) => only === undefined || benchmark === only)
    .flatMap(([benchmark, ids]) => ids.map((id) => ({ benchmark, id })))
    .filter(({ benchmark, id }) => !there.has(`${benchmark} ${id}`) && !(other && id.startsWith(other)))
}

function missText(row) {
  const { must, rivals, unit, result } = row
  const rival = must.kind === 'ratio' ? rivals[must.rival] : null
  const against = rival === null ? '' : `, ${timesText(rival.ratio)} ${must.rival} with ${amount(rival.value, unit)}`
  return [
    `MISSED  ${row.id}: ${row.name}`,
    `        ${amount(row.ours, unit)}${against}; must be ${mustText(row)}`,
    `        measured ${placeOf(result)}`,
  ].join('\n')
}

function absentText({ id, benchmark, measured }) {
  // A must against the best rival is none where no rival was there.
  const why = measured ? 'was measured with nobody to hold it against' : 'was not measured'
  return `ABSENT  ${id} of ${benchmark} ${why}; measure it with: npm run bench -- ${benchmark} --save`
}

const placeOf = ({ measuredAt, machine, commit }) =>
  `${whenText(measuredAt)} on ${machineText(machine)}, at ${commitText(commit)}`

const nameOf = ({ benchmark, store }) => `${benchmark}${store ? ` on ${store}` : ''}`

const placeText = (result) =>
  `${nameOf(result)}${result.partNames ? ` (${result.partNames.join(', ')})` : ''}: ${result.rows.length} rows, measured ${placeOf(result)}`

function missingText(result) {
  const missing = missingParts(result)
  if (missing.length === 0) return []
  const command = `npm run bench -- ${result.benchmark} --save --store ${result.store} --part ${missing.join(' --part ')}`
  return [`note: ${nameOf(result)} lacks ${missing.join(', ')}; measure with: ${command}`]
}

function aimLines(rows) {
  const aimed = rows.filter((row) => aimMet(row) !== null)
  const line = ({ id, ours, aim, unit, result }) =>
    `  ${result.benchmark} ${id}: ${amount(ours, unit)}, aim ${amount(aim, unit)}`
  const [reached, beyond] = [aimed.filter(aimMet), aimed.filter((row) => !aimMet(row))]
  return [
    ...(reached.length > 0 ? [`${reached.length} of ${aimed.length} aims are met:`, ...reached.map(line)] : []),
    ...(beyond.length > 0 ? [`${beyond.length} of ${aimed.length} aims are not met:`, ...beyond.map(line)] : []),
  ]
}
