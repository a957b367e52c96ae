/** Holds what was seen of a situation against its row of the table, purely: each difference is one sentence, and none means that all told the truth. */

const LOOP_MS = 10_000
/** Written once in ten seconds at most, whichever of its forms a line has. */
const LOOP = /^(.+?) (?:failed(?: and is retried in \d+ ms)?$|still fails: )/
/** Of doctor, what is true of any machine and says nothing of the situation. */
const ELSEWHERE = new Set(['clock', 'spikes', 'zone data'])

/** `seen` is what a pair observed; `store` is `postgres` or `sqlite`. */
export function differences(table, seen, store) {
  const isHere = ({ on = store }) => on === store
  const row = {
    ...table,
    ...{ opens: table.opens.filter(isHere), may: table.may.filter(isHere) },
    ...{ lines: table.lines.filter(isHere), metrics: table.metrics.filter(isHere) },
    doctor: [table.doctor[store] ?? table.doctor].flat(),
  }
  return [
    ...alertDifferences(row, seen),
    ...doctorDifferences('during', seen.doctor.during, row.doctor),
    ...doctorDifferences('after', seen.doctor.after, [afterwards(seen)]),
    ...row.metrics.flatMap((wanted) => metricDifferences(wanted, seen)),
    ...lineDifferences(row, seen),
    ...falseRecoveries(row, seen, store),
    ...(seen.audit.exit === 0 ? [] : [`audit ended with ${seen.audit.exit}: ${seen.audit.said}`]),
    ...(row.exits ?? []).flatMap((code, i) =>
      seen.exits[i] === code ? [] : [`process ${i} ended with ${seen.exits[i]}, not ${code}`],
    ),
  ]
}

function alertDifferences({ opens, may, stays, once }, { alerts, marks }) {
  const expected = new Set([...opens, ...may].map(({ kind }) => kind))
  const missing = opens
    .filter(({ kind, title }) => !alerts.some((each) => each.kind === kind && (title === null || each.title === title)))
    .map(({ kind, title }) => `alert missing: ${kind}${title === null ? '' : ` (${title})`}`)
  const isFalse = ({ kind, title, openedAt }) =>
    !expected.has(kind) ||
    Date.parse(openedAt) < (marks.during ?? 0) ||
    opens.some((each) => each.kind === kind && each.title !== null && each.title !== title)
  const wrong = alerts
    .filter(isFalse)
    .map(({ kind, title, openedAt }) => `alert false: ${kind} (${title}) at ${openedAt}`)
  const left = alerts
    .filter(({ kind, state }) => state !== 'resolved' && !stays.includes(kind))
    .map(({ kind, title }) => `alert not resolved: ${kind} (${title})`)
  return [...missing, ...wrong, ...left, ...(once ? onceDifferences(once, alerts) : [])]
}

function onceDifferences({ kind, values }, alerts) {
  const found = alerts.filter((each) => each.kind === kind)
  if (found.length !== 1) return [`${found.length} alerts ${kind}, not one`]
  return Object.entries(values)
    .filter(([name, value]) => found[0].values[name] !== value)
    .map(([name, value]) => `alert ${kind} says ${name} ${found[0].values[name]}, not ${value}`)
}

/** All is well again, but for the alerts that are open; those that may not be are judged by themselves. */
function afterwards({ alerts }) {
  const open = alerts.some(({ state }) => state !== 'resolved')
  return { exit: 0, says: open ? { alerts: 'warning' } : {} }
}

/** `allowed`: one of these is what doctor says. */
function doctorDifferences(phase, said, allowed) {
  if (!said) return [`doctor was not asked ${phase}`]
  const found = {}
  for (const { check, level } of said.findings)
    if (level !== 'ok' && !ELSEWHERE.has(check)) found[check] = found[check] === 'wrong' ? 'wrong' : level
  const names = (cause) => said.findings.some(({ level, text }) => level === 'wrong' && cause.test(text))
  const isSame = ({ exit, code = null, says = {}, cause = null }) =>
    said.exit === exit &&
    (code === null || said.code === code) &&
    sameFields(found, says) &&
    (cause === null || names(cause))
  if (allowed.some(isSame)) return []
  const texts = said.findings
    .filter(({ level }) => level !== 'ok')
    .map(({ check, level, text }) => `${check} ${level}: ${text}`)
  const words = [...texts, ...(said.message ? [said.message] : [])].join('; ') || 'all is well'
  const wanted = allowed.map(
    ({ exit, code, says = {}, cause = null }) =>
      `exit ${exit}, ${cause === null ? '' : `cause ${cause}, `}${
        code ??
        (Object.entries(says)
          .map((each) => each.join(' '))
          .join(', ') ||
          'all is well')
      }`,
  )
  return [`doctor ${phase}: exit ${said.exit}, ${words}; expected ${wanted.join(' or ')}`]
}

const sameFields = (one, other) =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(one).every(([name, value]) => other[name] === value)

const IS = { '=': (a, b) => a === b, '>': (a, b) => a > b, '<': (a, b) => a < b }

/** A series by its whole label, or the sum of all that have its name. */
export function seriesValue(series, label) {
  if (series.has(label)) return series.get(label)
  const values = [...series].filter(([each]) => each.startsWith(`${label}{`)).map(([, value]) => value)
  return values.length === 0 ? undefined : values.reduce((sum, each) => sum + each, 0)
}

function metricDifferences({ when, of, series, is, value }, { samples }) {
  const isIts = ({ phase }) => when === 'always' || phase === (when === 'soon after' ? 'after' : when)
  const own = samples.filter((each) => each.of === of && isIts(each))
  const looked = when === 'after' ? own.slice(-1) : own
  // A process that is away says nothing; that it is away is said by `up`.
  const values = looked.map((each) => seriesValue(each.series, series)).filter((each) => each !== undefined)
  const holds = (each) => IS[is](each, value)
  const isOnce = when === 'during' || when === 'soon after'
  const isTrue = isOnce ? values.some(holds) : values.length > 0 && values.every(holds)
  if (isTrue) return []
  const shown = values.length === 0 ? 'absent' : [...new Set(values)].slice(-6).join(', ')
  return [`metric of ${of} ${when}: ${series} is ${shown}; expected ${is} ${value}`]
}

function lineDifferences({ lines: wanted }, { lines, alerts }) {
  const fits = (each, { of, level, message }) => each.of === of && each.level === level && message.test(each.message)
  const missing = wanted
    .filter((each) => !each.optional && !lines.some((line) => fits(line, each)))
    .map(({ of, level, message }) => `log of ${of} has no ${level} line ${message}`)
  const isOurs = ({ level, message }) => level === 'warn' && message.startsWith('alert ')
  const needsNoScan = ({ level }) => level === 'info' || level === 'debug'
  const wrong = lines
    .filter((each) => !needsNoScan(each) && !isOurs(each) && !wanted.some((one) => fits(each, one)))
    .map(({ of, level, message, time }) => `log of ${of}, ${level}: ${message} at ${time}`)
  const sent = new Set(lines.filter(isOurs).map(({ alert }) => alert))
  const unsent = alerts.filter(({ id }) => !sent.has(id)).map(({ title }) => `channel was not told: ${title}`)
  return [...missing, ...new Set(wrong), ...unsent, ...burstDifferences(lines), ...unrecovered(lines)]
}

/** While nothing can be read or written, no loop can work again. */
function falseRecoveries({ lastsMs, cannotRead }, { lines, marks }, store) {
  if (cannotRead !== store) return []
  return lines
    .filter(({ at, message }) => / works again$/.test(message) && at > marks.during && at < marks.during + lastsMs)
    .map(({ of, message, time }) => `log of ${of} says "${message}" while the database is away, at ${time}`)
}

/** The loop of which a line says that it failed; null for any other line. */
const loopOf = ({ level, message }) => (level === 'error' && LOOP.exec(message)?.[1]) || null

/** A loop that failed says so when it works again. Of a process that ended meanwhile nothing more is to be said. */
function unrecovered(lines) {
  const failing = new Map()
  for (const each of lines) {
    const loop = loopOf(each) ?? / works again$/.exec(each.message)?.input.slice(0, -' works again'.length)
    if (loop) failing.set(`${each.of}: "${loop}"`, loopOf(each) !== null)
    if (/ started$/.test(each.message))
      for (const key of failing.keys()) if (key.startsWith(each.of)) failing.delete(key)
  }
  return [...failing].filter(([, isFailing]) => isFailing).map(([key]) => `log of ${key} failed and never works again`)
}

/** One line for a loop and ten seconds. */
function burstDifferences(lines) {
  const last = new Map()
  const bursts = []
  for (const { of, level, message, at } of lines) {
    const loop = loopOf({ level, message })
    if (loop === null) continue
    const key = `${of} ${loop}`
    const before = last.get(key)
    if (before !== undefined && at - before < LOOP_MS)
      bursts.push(`log of ${of}: "${loop}" twice within ${at - before} ms`)
    last.set(key, at)
  }
  return bursts
}
