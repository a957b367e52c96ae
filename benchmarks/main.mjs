/**
 * `npm run bench`: decides from the arguments what is run, checked, kept or shown, and with which exit code it ends; how a
 * thing is measured, judged or drawn stands in its own file.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { checkText } from './check.mjs'
import { pageFiles } from './page/page.mjs'
import { withPart } from './parts.mjs'
import { reportText, verdict } from './report.mjs'
import { commitFacts, keep, kept, machineFacts, readSaved } from './saved.mjs'

/**
 * A benchmark runs and answers rows with `versions` exported beside it, or both together with its settings; or it has
 * `parts`, and `measure` gives what it found of one store part by part.
 */
const BENCHMARKS = {
  cron: () => import('./cron/main.mjs'),
  cli: () => import('./cli/main.mjs'),
  core: () => import('./core/main.mjs'),
  server: () => import('./server/main.mjs'),
  http: () => import('./http/main.mjs'),
  scale: () => import('./core/scale.mjs'),
  rivals: () => import('./rivals/main.mjs'),
}
/** What is run when nothing is named. */
const OURS = ['cron', 'core']
/** Those that need no store. */
const STORELESS = ['cron', 'cli', 'server']
const STORES = ['sqlite', 'postgres']
const FLAGS = {
  quick: { type: 'boolean' },
  json: { type: 'boolean' },
  save: { type: 'boolean' },
  check: { type: 'boolean' },
  store: { type: 'string' },
  part: { type: 'string', multiple: true },
  seconds: { type: 'string' },
  install: { type: 'boolean' },
}

const note = (text) => process.stderr.write(`${text}\n`)
// Ends as by itself, so that what is cleared away at an end is cleared away.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
const asked = readArguments(process.argv.slice(2))
process.exitCode = asked === null ? usage() : await answer(asked)

function usage() {
  const flags = `[--quick | [--save] [--check]] [--json] [--store ${STORES.join('|')}]`
  const ours = Object.keys(BENCHMARKS).filter((name) => name !== 'rivals')
  // The race has lines of its own: it needs to be installed first.
  const lines = [
    ['npm run bench', `${OURS.join(' and ')}, quick: shows that they work`],
    [`npm run bench -- <${ours.join('|')}> ${flags}`, ''],
    ['npm run bench -- scale --part NAME [--quick | --save]', 'a part alone; put in with those saved before'],
    ['npm run bench -- http --seconds N', 'calls for so long'],
    [`npm run bench -- rivals ${flags}`, ''],
    ['npm run bench -- rivals --install', ''],
    ['npm run bench -- --check', 'whether the saved results met every target'],
    ['npm run bench -- page', 'makes docs/benchmarks.md again from the saved results'],
  ]
  const width = Math.max(...lines.filter(([, about]) => about !== '').map(([line]) => line.length))
  const shown = lines.map(([line, about]) => (about === '' ? line : `${line.padEnd(width)}   ${about}`))
  note(`usage: ${shown.join('\n       ')}`)
  return 2
}

/** Null when they make no sense. */
function readArguments(args) {
  try {
    const { values, positionals } = parseArgs({ args, options: FLAGS, allowPositionals: true })
    const [name] = positionals
    const alone = Object.keys(values).length
    if (positionals.length > 1) return null
    if (name === 'page') return alone === 0 ? { page: true } : null
    if (name !== undefined && !Object.hasOwn(BENCHMARKS, name)) return null
    if (values.install) return name === 'rivals' && alone === 1 ? { name, install: true } : null
    if (values.store !== undefined && (STORELESS.includes(name) || !STORES.includes(values.store))) return null
    // Whether a part alone meets every target cannot be said.
    if (values.part !== undefined && (name !== 'scale' || values.check)) return null
    const seconds = values.seconds === undefined ? undefined : Number(values.seconds)
    if (seconds !== undefined && (name !== 'http' || !Number.isInteger(seconds) || seconds < 1)) return null
    // Without a name it is a quick run, or a look at what is saved; figures that mean nothing are neither kept nor judged.
    if (name === undefined && values.check) return alone === 1 ? { check: true } : null
    const quick = values.quick === true || name === undefined
    return quick && (values.save || values.check) ? null : { ...values, name, quick, seconds }
  } catch {
    return null
  }
}

async function answer(asked) {
  if (asked.page) return writePage()
  if (asked.name === undefined && asked.check) return say(checkText(readSaved()))
  if (asked.name !== undefined) return run(asked)
  const codes = []
  for (const name of OURS)
    codes.push(await run({ ...asked, name, store: STORELESS.includes(name) ? undefined : asked.store }))
  if (!asked.json)
    process.stdout.write('\nThis was a quick look: the sizes are small, and so is what the figures mean.\n')
  return Math.max(...codes)
}

async function run({ name, install = false, ...how }) {
  const benchmark = await BENCHMARKS[name]()
  const refusal = (await benchmark.prepare?.({ install, note })) ?? null
  if (refusal !== null) {
    note(refusal)
    return 1
  }
  if (install) return 0
  return benchmark.parts === undefined
    ? measure(benchmark, { name, ...how })
    : measureParts(benchmark, { name, ...how })
}

async function measure(benchmark, { name, quick, store, seconds, json = false, save = false, check = false }) {
  // Before it runs: what is edited meanwhile was not measured.
  const about = { benchmark: name, store: store ?? null, measuredAt: new Date().toISOString(), commit: commitFacts() }
  const found = await benchmark.run({ quick, note, store, seconds })
  const { rows, versions, settings } = Array.isArray(found) ? { rows: found, versions: benchmark.versions } : found
  const ok = verdict(rows, quick)
  const result = { ...about, quick, ok, machine: machineFacts(), versions, settings, rows }
  const text = benchmark.reportText ?? reportText
  process.stdout.write(json ? `${JSON.stringify(result)}\n` : text(result))
  if (save) note(`kept as benchmarks/results/${keep(result)}; show it with: npm run bench -- page`)
  if (check) return say(checkText([result], { benchmark: name, store }), json)
  return ok === false ? 1 : 0
}

/** Each store has a result of its own, kept after every part: a run that is broken off keeps what it has. */
async function measureParts(benchmark, { name, quick, store, part, json = false, save = false, check = false }) {
  const unknown = part?.find((each) => !benchmark.parts.includes(each))
  if (unknown !== undefined) {
    note(`${name} has no part ${unknown}; its parts are ${benchmark.parts.join(', ')}`)
    return 2
  }
  const results = []
  for (const kind of store === undefined ? STORES : [store]) {
    const result = await measureEach(benchmark, { name, quick, store: kind, names: part, save })
    results.push(result)
    process.stdout.write(json ? `${JSON.stringify(result)}\n` : reportText(result))
  }
  if (save) note('show it with: npm run bench -- page')
  if (check) return say(checkText(results, { benchmark: name, store }), json)
  return results.some(({ ok, parts }) => ok === false || parts.some(({ failed }) => failed !== undefined)) ? 1 : 0
}

/** A whole run begins again; one of some parts goes on from what was kept. Answers what was measured now. */
async function measureEach(benchmark, { name, quick, store, names, save }) {
  const facts = { benchmark: name, store, machine: machineFacts() }
  let [now, whole] = [null, save && names !== undefined ? kept(facts) : null]
  // Before each part: what is edited meanwhile was not measured.
  let [measuredAt, commit] = [new Date().toISOString(), commitFacts()]
  for await (const { versions, settings, ...found } of benchmark.measure({ quick, note, store, names })) {
    const told = { part: { ...found, measuredAt, commit }, about: { ...facts, versions, settings } }
    now = withPart(now, benchmark.parts, told)
    whole = withPart(whole, benchmark.parts, told)
    if (save) note(`${found.name} is kept in benchmarks/results/${keep(whole)}`)
    measuredAt = new Date().toISOString()
    commit = commitFacts()
  }
  return { ...now, quick, ok: verdict(now.rows, quick) }
}

/** Where the result itself is the output, whatever else is said goes beside it. */
function say({ ok, text }, beside = false) {
  if (beside) note(text)
  else process.stdout.write(`${text}\n`)
  return ok ? 0 : 1
}

/** Charts of rows that are no longer there go away. */
function writePage() {
  const docs = new URL('../docs/', import.meta.url)
  const charts = new URL('benchmarks/', docs)
  const files = pageFiles(readSaved())
  mkdirSync(charts, { recursive: true })
  for (const name of readdirSync(charts)) {
    if (name.endsWith('.svg') && !Object.hasOwn(files, `benchmarks/${name}`)) rmSync(new URL(name, charts))
  }
  for (const [path, text] of Object.entries(files)) writeFileSync(new URL(path, docs), text)
  const count = Object.keys(files).length - 1
  note(`docs/benchmarks.md is made again, with ${count} ${count === 1 ? 'chart' : 'charts'}`)
  return 0
}
