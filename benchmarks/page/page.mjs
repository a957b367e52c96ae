/** The page of the benchmarks, out of the saved results alone: the same results make the same bytes. What the tables and charts look like stands beside this. */
import { byCommit, missingParts } from '../parts.mjs'
import { aimMet, met } from '../report.mjs'
import { newestOf } from '../saved.mjs'
import { amount, mixedNotes, mustText, namedRows, timesText } from '../words.mjs'
import { growthCharts, raceCharts } from './charts.mjs'
import { INTRODUCTION, NOTHING } from './introduction.mjs'
import { figuresTable, placesTable, plain, settingsTable, sizesText } from './tables.mjs'

const STORES = { postgres: 'Postgres', sqlite: 'SQLite' }
const FOLDER = 'benchmarks'

/** Answers the texts of all files by their paths under docs/. */
export function pageFiles(saved) {
  const results = newestOf(saved)
  const charts = []
  const shown = (more) => {
    charts.push(...more)
    return more.map(({ file, title }) => `![${title}](${FOLDER}/${file})`)
  }
  const parts = [INTRODUCTION, ...(results.length === 0 ? [NOTHING] : bodyOf(results, shown))]
  return {
    'benchmarks.md': `${parts.join('\n\n')}\n`,
    ...Object.fromEntries(charts.map(({ file, svg }) => [`${FOLDER}/${file}`, svg])),
  }
}

function bodyOf(results, shown) {
  const of = (benchmark) => results.filter((result) => result.benchmark === benchmark)
  return [
    ...summary(results),
    ...Object.keys(STORES).flatMap((store) => raceSections(of('rivals'), { store, shown })),
    ...storeSections(of('core'), (name) => `Everytick on ${name}`),
    ...storeSections(of('scale'), (name) => `Scale on ${name}`),
    ...storeSections(of('server'), (name) => `The server on ${name}`),
    ...storeSections(of('http'), (name) => `HTTP calls from ${name}`),
    ...growthSection(results, shown),
    ...of('cron').flatMap(({ rows }) => ['## The time engine', figuresTable(namedRows(rows))]),
    ...of('cli').flatMap(({ rows }) => ['## The command line', figuresTable(namedRows(rows))]),
    ...settingsSections(results),
    ...absentSection(of('rivals')),
    '## Where and when',
    placesTable(results.flatMap(byCommit)),
    ...mixedNotes(results.flatMap(byCommit)).map((text) => `Note: ${text}.`),
  ]
}

/** What was missed stands first: nobody should have to look for it. */
function summary(results) {
  const rows = results.flatMap((result) => namedRows(result.rows))
  const [held, aimed] = [rows.filter((row) => met(row) !== null), rows.filter((row) => aimMet(row) !== null)]
  const missed = held.filter((row) => !met(row))
  const where = ({ store, name }) => `${plain(name)}${store === null ? '' : ` (${STORES[store]})`}`
  const beyond = aimed.filter((row) => !aimMet(row))
  const reached = ({ ours, unit, must, rivals }) =>
    `${amount(ours, unit)}${must.kind === 'ratio' ? `, ${timesText(rivals[must.rival].ratio)} ${must.rival}` : ''}`
  const list = (head, rows, told) =>
    rows.length === 0 ? [] : [`${head}:`, rows.map((row) => `- ${where(row)}: ${told(row)}`).join('\n')]
  const counts = [
    `${held.length - missed.length} of ${held.length} figures that we must reach are reached`,
    `${aimed.length - beyond.length} of ${aimed.length} that we aim for`,
  ]
  return [
    '## In short',
    `${counts.join(', and ')}.`,
    ...list('Missed', missed, (row) => `${reached(row)}; must be ${mustText(row)}`),
    ...list('Aims not met', beyond, ({ ours, unit, aim }) => `${amount(ours, unit)}; aim ${amount(aim, unit)}`),
  ]
}

const rowsOn = (result, store) => namedRows(result.rows).filter((row) => row.store === store)

function raceSections(results, { store, shown }) {
  return results
    .filter((result) => rowsOn(result, store).length > 0)
    .flatMap((result) => [
      `## The race on ${STORES[store]}`,
      ...(store === 'postgres'
        ? ['BullMQ can take part twice: on Redis, and (`bullmq-postgres`) on the same Postgres as the others.']
        : []),
      ...shown(raceCharts(result, store)),
      figuresTable(rowsOn(result, store)),
    ])
}

function storeSections(results, heading) {
  return Object.entries(STORES).flatMap(([store, name]) =>
    results
      .filter((result) => rowsOn(result, store).length > 0)
      .flatMap((result) => [`## ${heading(name)}`, figuresTable(rowsOn(result, store)), ...missingNote(result)]),
  )
}

function missingNote(result) {
  const missing = missingParts(result)
  return missing.length === 0 ? [] : [`Not measured yet: ${missing.join(', ')}.`]
}

/** How it was measured decides whether that row is met, so it is said beside the charts. */
const PLANNED_BETWEEN_CHECKPOINTS = `On Postgres, planning is measured half-way between two checkpoints, on cursors that were just vacuumed. Right after a checkpoint
every page is logged as a whole once more: there a fire among 1,000,000 schedules cost 1.37 to 1.54 times one among 1,000 (three measurements, 18 November
2026), which is on either side of the 1.5 that we must not exceed.`

function growthSection(results, shown) {
  const images = shown(growthCharts(results))
  if (images.length === 0) return []
  return [
    '## What grows and what does not',
    'Each point is a system of that size, and what it costs there as so many times the cost at the smallest; flat is good.',
    PLANNED_BETWEEN_CHECKPOINTS,
    ...images,
  ]
}

function settingsSections(results) {
  const withSettings = results.filter(({ settings }) => settings !== undefined)
  if (withSettings.length === 0) return []
  return [
    '## Settings',
    ...withSettings.flatMap(({ benchmark, store, settings }) => [
      `**${benchmark}${store === null ? '' : `, ${store}`}**: ${sizesText(settings)}`,
      ...settingsTable(settings),
    ]),
  ]
}

function absentSection(results) {
  const absent = results.flatMap(({ settings }) => Object.entries(settings?.absent ?? {}))
  if (absent.length === 0) return []
  return ['## Not in the race', absent.map(([name, why]) => `- ${name}: ${plain(why)}`).join('\n')]
}
