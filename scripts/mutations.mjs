/** Makes each listed mutant in memory, runs the tests that must notice it, and fails when one survives; the lists are in test/stores/mutations/. */
import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { createJiti } from 'jiti'
import { readMutants, root, sampleOf, whyNotMade } from './mutations/list.mjs'
import { executeJobs } from './mutations/pool.mjs'
import { openProgress } from './mutations/progress.mjs'

const USAGE = `usage: npm run mutations -- [--only TEXT] [--sample N] [--seed S] [--json] [--list FILE]
  --only TEXT  only mutants whose name contains TEXT; a name is "sqlite: what breaks (file, declaration)"
  --sample N   N mutants, chosen by the seed
  --seed S     any text; the hash of the commit when absent
  --json       one JSON document on standard output; progress goes to standard error
  --list FILE  mutants of another list, relative to the repository`

/** A mutant that is no longer SQL or TypeScript proves nothing, however many tests it fails. */
const NONSENSE =
  /syntax error|near "|no such|does not exist|is ambiguous|wrong number of|bind message|is not defined|Unexpected token/
const TIMEOUT_MS = 90_000
const MORE_PER_MUTANT_MS = 3_000

async function main() {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', default: '' },
      sample: { type: 'string' },
      seed: { type: 'string' },
      json: { type: 'boolean', default: false },
      list: { type: 'string' },
    },
  })
  const print = values.json ? console.error : console.log
  const named = (await readMutants(values.list && [values.list])).filter(({ name }) => name.includes(values.only))
  const seed = values.seed ?? commit()
  const mutants = values.sample ? sampleOf(named, Number(values.sample), seed) : named
  if (mutants.length === 0) throw new TypeError('no mutant has this name, or the sample is not a number')
  if (values.sample) {
    print(`${mutants.length} of ${named.length} mutants, chosen by the seed ${seed}:`)
    for (const { name } of mutants) print(`  ${name}`)
  }
  const stop = new AbortController()
  for (const event of ['SIGINT', 'SIGTERM']) process.once(event, () => stop.abort())
  const results = await execute(mutants, { print, signal: stop.signal })
  if (results === null) return 1
  const survivors = results.filter(({ verdict }) => verdict !== 'caught')
  for (const { name, verdict, words } of survivors) print(`${verdict}  ${name}\n${words.replace(/^/gm, '    ')}`)
  print(`${results.length - survivors.length} of ${mutants.length} mutants caught`)
  if (values.json) console.log(JSON.stringify({ seed, interrupted: stop.signal.aborted, mutants: results }, null, 2))
  if (stop.signal.aborted) print(`interrupted: ${mutants.length - results.length} mutants were not tried`)
  if (survivors.length > 0) return 1
  return stop.signal.aborted ? 130 : 0
}

/** What became of each mutant that was tried, or null when the tests fail without one. */
async function execute(mutants, { print, signal }) {
  const progress = openProgress(mutants.length, print)
  const results = []
  const broken = []
  const server = mutants.some(({ list }) => list === 'postgres') ? await startPostgres() : null
  try {
    const made = []
    for (const mutant of mutants) {
      const why = whyNotMade(mutant)
      if (!why) made.push(mutant)
      else progress.add(results[results.push({ name: mutant.name, verdict: 'GONE', by: [], words: why }) - 1])
    }
    await executeJobs([...controlsOf(made), ...made.map(jobOf)], {
      shards: availableParallelism(),
      provide: server ? { postgres: server.url } : {},
      signal,
      onResult({ mutant, test }, result) {
        if (mutant) {
          results.push({ name: mutant.name, ...verdictOn(mutant, result) })
          progress.add(results.at(-1))
        } else if (result.passed > 0 && result.failed.length === 0)
          progress.note(`${test}: ${result.passed} tests pass`)
        else broken.push(`${test} fails without any mutant:\n${wordsOf(result) || 'no test passes'}`)
        return broken.length === 0
      },
    })
  } finally {
    progress.end()
    await server?.stop()
  }
  for (const words of broken) print(words)
  return broken.length > 0 ? null : results
}

/** Without a mutant the tests have to pass; otherwise their failure with one means nothing. */
function controlsOf(mutants) {
  return [...new Set(mutants.map(({ test }) => test))].map((test) => {
    const aimed = mutants.filter((mutant) => mutant.test === test)
    const kills = aimed[0].byName ? aimed.map(({ kills }) => kills) : undefined
    return { test, kills, edits: [], timeoutMs: TIMEOUT_MS + aimed.length * MORE_PER_MUTANT_MS }
  })
}

function jobOf(mutant) {
  const { test, kills, byName, edits } = mutant
  return { mutant, test, kills: byName ? [kills] : undefined, edits, timeoutMs: TIMEOUT_MS }
}

function verdictOn(mutant, result) {
  const words = wordsOf(result)
  const by = result.failed?.map(({ title }) => title) ?? []
  const because = (verdict, why = words) => ({ verdict, by, words: why })
  // A test that hangs fails in the suite too.
  if (result.timedOut) return because('caught')
  if (result.error) return because('CRASHED')
  if (result.unnamed) return because('UNNAMED', 'no test names it')
  if (result.unread.length > 0) return because('UNREAD', `its test does not load ${result.unread.join(', ')}`)
  if (by.length === 0) return because('SURVIVED', `in ${mutant.test}, where ${result.passed} tests pass with it`)
  return because(result.failed.every((each) => NONSENSE.test(each.words)) ? 'NONSENSE' : 'caught')
}

function wordsOf({ error, timedOut, failed = [] }) {
  if (timedOut) return 'its tests did not end'
  return error ?? failed.map(({ title, words }) => `${title}: ${words}`).join('\n')
}

async function startPostgres() {
  const launcher = await createJiti(import.meta.url).import('../test/postgres/launcher.ts')
  return launcher.startPostgres()
}

/** Another commit tries other mutants; the same one tries the same again. */
function commit() {
  const { stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' })
  return stdout?.trim() || new Date().toISOString()
}

process.exitCode = await main().catch((error) => {
  console.error(`${error.message}\n${USAGE}`)
  return 2
})
