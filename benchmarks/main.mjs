/**
 * `npm run bench -- <name> [--quick] [--json] [--save] [--store <kind>]`: runs one benchmark, prints it, and fails when a
 * target is missed.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { machineFacts, reportText, verdict } from './report.mjs'

/** A benchmark answers rows with `versions` exported beside it, or both together with its settings. */
const BENCHMARKS = { cron: () => import('./cron/main.mjs'), core: () => import('./core/main.mjs') }
const STORES = ['sqlite', 'postgres']
const FLAGS = {
  quick: { type: 'boolean' },
  json: { type: 'boolean' },
  save: { type: 'boolean' },
  store: { type: 'string' },
}

const asked = readArguments(process.argv.slice(2))
if (asked === null) {
  const usage = `<${Object.keys(BENCHMARKS).join('|')}> [--quick] [--json] [--save] [--store ${STORES.join('|')}]`
  process.stderr.write(`usage: npm run bench -- ${usage}\n`)
  process.exitCode = 2
} else {
  const { name, json = false, save = false, quick = false, store } = asked
  const benchmark = await BENCHMARKS[name]()
  const note = (text) => process.stderr.write(`${text}\n`)
  const answer = await benchmark.run({ quick, note, store })
  const { rows, versions, settings } = Array.isArray(answer) ? { rows: answer, versions: benchmark.versions } : answer
  const result = { benchmark: name, quick, ok: verdict(rows, quick), machine: machineFacts(), versions, settings, rows }
  if (save) keep(result, store === undefined ? name : `${name}-${store}`)
  process.stdout.write(json ? `${JSON.stringify(result)}\n` : reportText(result))
  process.exitCode = result.ok === false ? 1 : 0
}

/** Null when they make no sense. */
function readArguments(args) {
  try {
    const { values, positionals } = parseArgs({ args, options: FLAGS, allowPositionals: true })
    const [name] = positionals
    const known = positionals.length === 1 && Object.hasOwn(BENCHMARKS, name)
    const stored = values.store === undefined || (name === 'core' && STORES.includes(values.store))
    return known && stored ? { name, ...values } : null
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
