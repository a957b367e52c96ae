/** Decides which charts there are, what stands in each and what its file is called; how they are drawn is for `bars` and `lines`. */
import { betterOf } from '../report.mjs'
import { namedRows } from '../words.mjs'
import { barChart } from './bars.mjs'
import { lineChart } from './lines.mjs'

const STORES = { postgres: 'Postgres', sqlite: 'SQLite' }

/** Questions of the race, by chart; those that were not asked are left out. */
const BARS = [
  {
    file: 'drain',
    title: 'Drain: no-op runs a second, more is better',
    ids: ['drain-1', 'drain-2', 'drain-2-backlog'],
  },
  { file: 'enqueue', title: 'Enqueue: runs a second, more is better', ids: ['enqueue', 'enqueue-single'] },
  {
    file: 'cpu',
    title: 'CPU for each run, less is better',
    stack: ['drain-1-cpu-worker', 'drain-1-cpu-server'],
    what: 'drain, 1 process',
  },
  { file: 'pick-up', title: 'Pick-up of a single run, less is better', ids: ['pick-up-p50', 'pick-up-p99'] },
  {
    file: 'backlog',
    title: 'Many schedules due at once: lateness, less is better',
    ids: ['backlog-1000-p99', 'backlog-10000-last'],
  },
]

/** Answers `[{ file, title, svg }]` for the race on one store. */
export function raceCharts(result, store) {
  const rows = new Map(namedRows(result.rows).map((row) => [row.id, row]))
  const found = (ids) => ids.map((id) => rows.get(`${store}-${id}`)).filter((row) => row !== undefined)
  return BARS.flatMap(({ file, title, ids, stack, what }) => {
    const panels = stack === undefined ? found(ids).map(panelOf) : stackedPanel(found(stack), what)
    if (panels.length === 0) return []
    const full = `${title} (${STORES[store]})`
    return [{ file: `${store}-${file}.svg`, title: full, svg: barChart({ title: full, panels }) }]
  })
}

function panelOf(row) {
  const { name, unit } = row
  return {
    what: name,
    unit,
    better: betterOf(row),
    bars: contenders(row).map((who) => ({ ...bar(who), parts: [figureOf(row, who)] })),
  }
}

/** Whoever has no server has one part; whoever lacks a part that others have is left out, since a part is no whole. */
function stackedPanel(rows, what) {
  if (rows.length === 0) return []
  const whole = contenders(rows[0]).filter((who) => rows.every((row) => figureOf(row, who) !== undefined))
  const bars = whole.map((who) => ({ ...bar(who), parts: rows.map((row) => figureOf(row, who)) }))
  const note = rows.length > 1 ? 'worker + server' : 'worker'
  return [{ what, note, unit: rows[0].unit, better: 'less', bars }]
}

/** Ours first, then the rivals as they took their turns, then the limit. */
const contenders = ({ rivals }) => [
  'everytick',
  ...Object.keys(rivals).filter((name) => name !== 'limit'),
  ...('limit' in rivals ? ['limit'] : []),
]
const figureOf = ({ ours, rivals }, who) => (who === 'everytick' ? ours : rivals[who]?.value)
const bar = (name) => ({ name, kind: name === 'everytick' ? 'ours' : name === 'limit' ? 'limit' : 'rival' })

/** One chart for each figure that grows, both stores in it where both were measured alike. */
export function growthCharts(results) {
  const groups = new Map()
  // What costs nothing at first cannot be drawn as so many times that.
  const all = results.flatMap(({ rows }) => namedRows(rows)).filter(({ series }) => series?.y[0] > 0)
  for (const row of all) {
    if (all.some((other) => beginsLike(row, other))) continue
    const { xLabel, yLabel } = row.series
    const id = row.store === null ? row.id : row.id.slice(row.store.length + 1)
    const key = JSON.stringify([id, xLabel, yLabel])
    groups.set(key, [...(groups.get(key) ?? []), { ...row, bare: id }])
  }
  const used = new Set()
  return [...groups.values()].map((rows) => {
    const [{ bare, store, series }] = rows
    // The same question asked of both stores in other terms has a chart for each.
    const file = `growth-${used.has(bare) ? `${store}-` : ''}${bare.replace(/^growth-/, '')}`
    used.add(bare)
    const title = titleOf(rows[0])
    const lines = rows
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .map((row) => ({ name: STORES[row.store] ?? 'everytick', x: row.series.x, y: row.series.y }))
    const svg = lineChart({ title, xLabel: series.xLabel, yLabel: series.yLabel, lines })
    return { file: `${file}.svg`, title, svg }
  })
}

/** Whether a line is only the beginning of another one. */
function beginsLike(row, other) {
  const [few, many] = [row.series, other.series]
  const same = row.store === other.store && few.xLabel === many.xLabel && few.yLabel === many.yLabel
  return same && few.x.length < many.x.length && few.x.every((x, i) => x === many.x[i] && few.y[i] === many.y[i])
}

/** The row speaks of its largest size, the chart of all. */
function titleOf({ name, series: { xLabel } }) {
  const words = name.replace(new RegExp(`(,| after| with) [\\d,]+ ${xLabel}`), '')
  return `${words[0].toUpperCase()}${words.slice(1)}, by number of ${xLabel}`
}
