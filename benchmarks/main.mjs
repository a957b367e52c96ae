/**
 * `npm run bench -- <name> [--quick] [--json] [--save] [--store <kind>]`: runs one benchmark, prints it, and fails when a
 * target is missed. `rivals --install` installs what the race is run against, and runs nothing.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { machineFacts, reportText, verdict } from './report.mjs'

/** A benchmark answers rows with `versions` exported beside it, or both together with its settings. */
const BENCHMARKS = {
  cron: () => import('./cron/main.mjs'),
  core: () => import('./core/main.mjs'),
  rivals: () => import('./rivals/main.mjs'),
}
const STORES = ['sqlite', 'postgres']
const FLAGS = {
  quick: { type: 'boolean' },
  json: { type: 'boolean' },
  save: { type: 'boolean' },
  store: { type: 'string' },
  install: { type: 'boolean' },
}

const note = (text) => process.stderr.write(`${text}\n`)
const asked = readArguments(process.argv.slice(2))
if (asked === null) {
  const flags = `[--quick] [--json] [--save] [--store ${STORES.join('|')}]`
  const ours = Object.keys(BENCHMARKS).filter((name) => name !== 'rivals')
  // The race has lines of its own: it needs to be installed first.
  const lines = [`<${ours.join('|')}> ${flags}`, `rivals ${flags}`, 'rivals --install']
  note(`usage: ${lines.map((line) => `npm run bench -- ${line}`).join('\n       ')}`)
  process.exitCode = 2
} else {
  const benchmark = await BENCHMARKS[asked.name]()
  const refusal = (await benchmark.prepare?.({ install: asked.install === true, note })) ?? null
  if (refusal !== null) {
    note(refusal)
    process.exitCode = 1
  } else if (!asked.install) await measure(benchmark, asked)
}

async function measure(benchmark, { name, json = false, save = false, quick = false, store }) {
  const answer = await benchmark.run({ quick, note, store })
  const { rows, versions, settings } = Array.isArray(answer) ? { rows: answer, versions: benchmark.versions } : answer
  const result = { benchmark: name, quick, ok: verdict(rows, quick), machine: machineFacts(), versions, settings, rows }
  const kept = name === 'rivals' ? `rivals-${new Date().toISOString().slice(0, 10)}` : name
  if (save) keep(result, store === undefined ? kept : `${kept}-${store}`)
  const text = benchmark.reportText ?? reportText
  process.stdout.write(json ? `${JSON.stringify(result)}\n` : text(result))
  process.exitCode = result.ok === false ? 1 : 0
}

/** Null when they make no sense. */
function readArguments(args) {
  try {
    const { values, positionals } = parseArgs({ args, options: FLAGS, allowPositionals: true })
    const [name] = positionals
    const known = positionals.length === 1 && Object.hasOwn(BENCHMARKS, name)
    const stored = values.store === undefined || (name !== 'cron' && STORES.includes(values.store))
    const installs = values.install === undefined || (name === 'rivals' && Object.keys(values).length === 1)
    return known && stored && installs ? { name, ...values } : null
  } catch {
    return null
  }
}

/** A part has a file of its own, so that it never takes the place of the whole. */
function keep(result, name) {
  const folder = new URL('./results/', import.meta.url)
  mkdirSync(folder, { recursive: true })
  writeFileSync(new URL(`${name}.json`, folder), `${JSON.stringify(result, null, 2)}\n`)
}
