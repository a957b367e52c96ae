/** How figures, targets, rows and the place of a measurement are put into words, the same in every report; judges nothing. */

/** A figure as people write it: no more digits than mean something. */
export function figure(value) {
  if (value === null) return '–'
  if (value === 0) return '0'
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 4
  return value.toLocaleString('en', { maximumFractionDigits: digits })
}

export const amount = (value, unit) => `${figure(value)} ${unit}`.trim()

/** Rounded down: what just misses twice as much is not shown as twice as much. */
export function timesText(ratio) {
  const steps = ratio >= 10 ? 1 : 100
  const down = Math.floor(ratio * steps + 1e-9) / steps
  return `${ratio >= 10 ? down.toLocaleString('en') : down.toFixed(2)}×`
}

export function mustText({ must, unit }) {
  if (must === null) return ''
  if (must.kind === 'ratio') return `≥ ${must.value}× ${must.rival}`
  return `${must.kind === 'least' ? '≥' : '≤'} ${amount(must.value, unit)}`
}

/** The store a row belongs to, or null: the first word of its id says it. */
export const storeOf = ({ id }) => /^(sqlite|postgres)-/.exec(id)?.[1] ?? null

/** What a row is about, whole: lines that continue the one before say only what differs, and nobody repeats the store. */
export function namedRows(rows) {
  let above = ''
  return rows.map((row) => {
    const words = row.what.replace(/^(sqlite|postgres)\s/, '')
    const continues = row.what.startsWith(' ')
    const short = words.trim().replace(/\s+/g, ' ')
    if (!continues) above = short
    return { ...row, store: storeOf(row), continues, short, name: continues ? `${above}: ${short}` : short }
  })
}

/** `2026-11-16 03:40 UTC` */
export const whenText = (iso) => `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`

export function commitText(commit) {
  if (commit === null) return 'an unknown commit'
  return `commit ${commit.id}${commit.dirty ? ' with changes that are not committed' : ''}`
}

export const machineText = ({ cpu, cores, memoryGb, platform, node }) =>
  `${cpu}, ${cores} ${cores === 1 ? 'core' : 'cores'}, ${memoryGb} GB, ${platform}, Node ${node}`

/** The heading of a printed report. */
export function factsText({ benchmark, machine, commit, versions }) {
  const said = Object.entries(versions).map(([name, version]) => `${name} ${version ?? 'unknown'}`)
  return `${benchmark}  ${[machineText(machine), commitText(commit), ...said].join(' · ')}`
}

/** What to know before figures of several results are compared. */
export function mixedNotes(results) {
  const differ = (what) => new Set(results.map((result) => JSON.stringify(what(result)))).size > 1
  const notes = []
  if (differ(({ machine }) => [machine.cpu, machine.cores, machine.memoryGb, machine.platform]))
    notes.push('these results are not all of one machine')
  if (differ(({ commit }) => commit?.id ?? null)) notes.push('these results are not all of one commit')
  return notes
}
