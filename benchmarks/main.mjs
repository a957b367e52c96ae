/**
 * `npm run bench`: decides from the arguments what is run, checked, kept or shown, and with which exit code it ends; how a
 * thing is measured, judged or drawn stands in its own file.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { checkText } from './check.mjs'
import { pageFiles } from './page/page.mjs'
import { reportText, verdict } from './report.mjs'
import { commitFacts, keep, machineFacts, readSaved } from './saved.mjs'

/** A benchmark answers rows with `versions` exported beside it, or both together with its settings. */
const BENCHMARKS = {
  cron: () => import('./cron/main.mjs'),
  core: () => import('./core/main.mjs'),
  scale: () => import('./core/scale.mjs'),
  rivals: () => import('./rivals/main.mjs'),
}
/** What is run when nothing is named. */
const OURS = ['cron', 'core']
const STORES = ['sqlite', 'postgres']
const FLAGS = {
  quick: { type: 'boolean' },
  json: { type: 'boolean' },
  save: { type: 'boolean' },
  check: { type: 'boolean' },
  store: { type: 'string' },
  install: { type: 'boolean' },
}

const note = (text) => process.stderr.write(`${text}\n`)
const asked = readArguments(process.argv.slice(2))
process.exitCode = asked === null ? usage() : await answer(asked)

function usage() {
  const flags = `[--quick | [--save] [--check]] [--json] [--store ${STORES.join('|')}]`
  const ours = Object.keys(BENCHMARKS).filter((name) => name !== 'rivals')
  // The race has lines of its own: it needs to be installed first.
  const lines = [
    ['npm run bench', `${OURS.join(' and ')}, quick: shows that they work`],
    [`npm run bench -- <${ours.join('|')}> ${flags}`, ''],
    [`npm run bench -- rivals ${flags}`, ''],
    ['npm run bench -- rivals --install', ''],
    ['npm run bench -- --check', 'whether the saved results met every target'],
    ['npm run bench -- page', 'makes docs/benchmarks.md anew from the saved results'],
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
    if (values.store !== undefined && (name === 'cron' || !STORES.includes(values.store))) return null
    // Without a name it is a quick run, or a look at what is saved; figures that mean nothing are neither kept nor judged.
    if (name === undefined && values.check) return alone === 1 ? { check: true } : null
    const quick = values.quick === true || name === undefined
    return quick && (values.save || values.check) ? null : { ...values, name, quick }
  } catch {
    return null
  }
}

async function answer(asked) {
  if (asked.page) return writePage()
  if (asked.name === undefined && asked.check) return say(checkText(readSaved()))
  if (asked.name !== undefined) return run(asked)
  const codes = []
  for (const name of OURS) codes.push(await run({ ...asked, name, store: name === 'cron' ? undefined : asked.store }))
  if (!asked.json)
    process.stdout.write('\nThis was a quick look: the sizes are small, and so is what the figures mean.\n')
  return Math.max(...codes)
}

async function run({ name, install = false, ...how }) {
  const benchmark = await BENCHMARKS[name]()
  const refusal = (await benchmark.prepare?.({ install, note })) ?? null
  if (refusal === null) return install ? 0 : measure(benchmark, { name, ...how })
  note(refusal)
  return 1
}

async function measure(benchmark, { name, quick, store, json = false, save = false, check = false }) {
  // Before it runs: what is edited meanwhile was not measured.
  const about = { benchmark: name, store: store ?? null, measuredAt: new Date().toISOString(), commit: commitFacts() }
  const found = await benchmark.run({ quick, note, store })
  const { rows, versions, settings } = Array.isArray(found) ? { rows: found, versions: benchmark.versions } : found
  const ok = verdict(rows, quick)
  const result = { ...about, quick, ok, machine: machineFacts(), versions, settings, rows }
  const text = benchmark.reportText ?? reportText
  process.stdout.write(json ? `${JSON.stringify(result)}\n` : text(result))
  if (save) note(`kept as benchmarks/results/${keep(result)}; show it with: npm run bench -- page`)
  if (check) return say(checkText([result], { benchmark: name, store }), json)
  return ok === false ? 1 : 0
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
  note(`docs/benchmarks.md is made anew, with ${count} ${count === 1 ? 'chart' : 'charts'}`)
  return 0
}
