/** `npm run bench -- <name> [--quick] [--json] [--save]`: runs one benchmark, prints it, and fails when a target is missed. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { machineFacts, reportText, verdict } from './report.mjs'

const BENCHMARKS = { cron: () => import('./cron/main.mjs') }
const FLAGS = ['--quick', '--json', '--save']

const args = process.argv.slice(2)
const names = args.filter((arg) => !arg.startsWith('--'))
const load = names.length === 1 && Object.hasOwn(BENCHMARKS, names[0]) ? BENCHMARKS[names[0]] : undefined
const strange = args.find((arg) => arg.startsWith('--') && !FLAGS.includes(arg))

if (!load || strange) {
  process.stderr.write(`usage: npm run bench -- <${Object.keys(BENCHMARKS).join('|')}> [${FLAGS.join('] [')}]\n`)
  process.exitCode = 2
} else {
  const quick = args.includes('--quick')
  const { run, versions } = await load()
  const note = (text) => process.stderr.write(`${text}\n`)
  const rows = await run({ quick, note })
  const result = { benchmark: names[0], quick, ok: verdict(rows, quick), machine: machineFacts(), versions, rows }
  if (args.includes('--save')) save(result)
  process.stdout.write(args.includes('--json') ? `${JSON.stringify(result)}\n` : reportText(result))
  process.exitCode = result.ok === false ? 1 : 0
}

function save(result) {
  const folder = new URL('./results/', import.meta.url)
  mkdirSync(folder, { recursive: true })
  writeFileSync(new URL(`${result.benchmark}.json`, folder), `${JSON.stringify(result, null, 2)}\n`)
}
