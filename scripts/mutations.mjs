/** Makes each listed mistake in a copy of the sources, runs the tests there, and fails when a mistake goes unnoticed; the lists stand in test/stores/mutations/. */
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Which tests are to catch the mistakes of a list. */
const LISTS = {
  sqlite: { tests: ['test/stores/sqlite.test.ts'], setup: [] },
  postgres: { tests: ['test/stores/postgres.test.ts'], setup: ['test/postgres/global-setup.ts'] },
  pure: {
    tests: [
      'src/run',
      'src/plan',
      'src/schedule/jitter.test.ts',
      'src/json.test.ts',
      'src/store/postgres/lineage.test.ts',
      'src/store/postgres/hosts.test.ts',
      'src/engine',
      'src/observe/error-throttle.test.ts',
      'src/server/idempotency-verdict.test.ts',
    ],
    setup: [],
  },
}

/** A mistake that no longer is SQL or TypeScript proves nothing, however many tests it fails. */
const NONSENSE = /syntax error|near "|no such|does not exist|is ambiguous|wrong number of|bind message|is not defined/

const [wanted = Object.keys(LISTS).join(), word = ''] = process.argv.slice(2)
const names = wanted.split(',')
if (names.some((name) => !(name in LISTS))) {
  console.error(`usage: node scripts/mutations.mjs [${Object.keys(LISTS).join(',')}] [part of a mistake's name]`)
  process.exit(2)
}

let survivors = 0
for (const name of names) survivors += await tryList(name)
process.exitCode = survivors > 0 ? 1 : 0

async function tryList(name) {
  const { MUTATIONS } = await import(new URL(`../test/stores/mutations/${name}.mjs`, import.meta.url))
  const chosen = MUTATIONS.filter(({ kills }) => kills.includes(word))
  const untouched = await run(name, { mutations: [] })
  if (untouched.failed.length > 0 || untouched.passed === 0) {
    console.log(`${name}: without any mistake, ${untouched.failed.length} tests fail and ${untouched.passed} pass`)
    for (const { title } of untouched.failed) console.log(`    ${title}`)
    return 1
  }
  console.log(
    `\n${name}: ${untouched.passed} tests pass without a mistake; with each of these ${chosen.length} mistakes:`,
  )
  let survived = 0
  for (const mutation of chosen) {
    // Only the promises that name the mistake: they are the ones that must notice it, and the rest would take minutes.
    const promises = untouched.all.filter(({ kills }) => kills === undefined || kills === mutation.kills)
    if (!(await isCaught(name, mutation, promises))) survived += 1
  }
  console.log(`${name}: ${chosen.length - survived} of ${chosen.length} caught`)
  return survived
}

async function isCaught(name, mutation, promises) {
  const mutations = [mutation, ...(mutation.also ?? []).map((edit) => ({ file: mutation.file, ...edit }))]
  const lost = mutations.find((edit) => !isThere(edit))
  const { failed, words } = promises.length === 0 || lost ? { failed: [] } : await run(name, { mutations, promises })
  const verdict = verdictOn({ failed, lost, promises })
  console.log(`  ${verdict.padEnd(9)} ${mutation.kills}  (${mutation.file})`)
  for (const { title } of failed.slice(0, 3)) console.log(`${' '.repeat(12)}by: ${title}`)
  if (failed.length > 3) console.log(`${' '.repeat(12)}and by ${failed.length - 3} more`)
  if (verdict === 'NONSENSE') console.log(failed[0].words)
  if (lost) console.log(`${' '.repeat(12)}this does not stand there once: ${lost.find}`)
  else if (failed.length === 0 && words) console.log(words)
  return verdict === 'caught'
}

function verdictOn({ failed, lost, promises }) {
  if (lost) return 'GONE'
  if (promises.length === 0) return 'UNNAMED'
  if (failed.length === 0) return 'SURVIVED'
  return failed.every(({ words }) => NONSENSE.test(words)) ? 'NONSENSE' : 'caught'
}

/** Runs the tests of a list, or only these promises of it, in a copy that holds these mistakes. */
async function run(name, { mutations, promises = [] }) {
  const copy = mkdtempSync(join(tmpdir(), 'everytick-mutation-'))
  try {
    for (const part of ['src', 'test', 'package.json', 'tsconfig.json'])
      cpSync(join(root, part), join(copy, part), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'junction')
    for (const mutation of mutations) apply(join(copy, mutation.file), mutation)
    // A store that waits for ever has failed; nobody needs to wait as long for it here.
    apply(join(copy, 'src/testing/conformance/harness.ts'), {
      find: 'TIMEOUT_MS = 20_000',
      replace: 'TIMEOUT_MS = 5_000',
    })
    const { tests, setup } = LISTS[name]
    const config = { test: { include: ['**/*.test.ts'], globalSetup: setup, testTimeout: 60_000, pool: 'forks' } }
    writeFileSync(join(copy, 'vitest.config.mjs'), `export default ${JSON.stringify(config)}\n`)
    return await vitest(copy, [...tests, ...onlyThese(promises)])
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

function onlyThese(promises) {
  if (promises.length === 0) return []
  const titles = promises.map(({ title }) => title.replaceAll(/[^\w ]/g, '.'))
  return [`--testNamePattern=(${titles.join('|')})$`]
}

function standsOnce(text, find) {
  return text.split(find).length === 2
}

/** In the sources as they are; the second of two edits to one file is judged by the untouched file too. */
function isThere({ file, find }) {
  return standsOnce(readFileSync(join(root, file), 'utf8'), find)
}

function apply(path, { find, replace }) {
  const text = readFileSync(path, 'utf8')
  if (!standsOnce(text, find)) throw new Error(`${path} does not hold exactly once: ${find}`)
  writeFileSync(
    path,
    text.replace(find, () => replace),
  )
}

async function vitest(folder, which) {
  const report = join(folder, 'report.json')
  const program = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const args = [program, 'run', ...which, '--reporter=json', `--outputFile=${report}`, '--config=vitest.config.mjs']
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let words = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (words += chunk))
  await new Promise((resolve) => child.once('close', resolve))
  const files = JSON.parse(readFileSync(report, 'utf8')).testResults
  const results = files.flatMap((file) => file.assertionResults)
  const failed = results.filter(({ status }) => status === 'failed')
  // A file that does not even load is as good as a failed test.
  for (const file of files)
    if (file.status === 'failed' && file.assertionResults.length === 0) failed.push({ title: file.message })
  const withKills = ({ title, meta, failureMessages = [] }) => {
    return { title, kills: meta?.kills, words: failureMessages.join('\n').slice(0, 1000) }
  }
  return {
    all: results.filter(({ status }) => status === 'passed').map(withKills),
    failed: failed.map(withKills),
    passed: results.filter(({ status }) => status === 'passed').length,
    words: words.trim(),
  }
}
