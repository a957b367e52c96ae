/** One process of a mutation run: executes tests on sources in which one mutant is made in memory; pool.mjs sends the jobs. */
import { tmpdir } from 'node:os'
import { join, relative, sep } from 'node:path'
import { createVitest } from 'vitest/node'
import { withEdits } from './anchor.mjs'
import { root } from './list.mjs'

let edits = []
let mutated = new Set()
/** Vite hands every source file through here; nothing is written to disk, so a crash leaves no mutant behind. */
const overlay = {
  name: 'everytick-mutant',
  enforce: 'pre',
  transform(code, id) {
    const file = relative(root, id.split('?')[0]).replaceAll(sep, '/')
    const here = edits.filter((edit) => edit.file === file)
    if (here.length === 0) return null
    mutated.add(file)
    return { code: withEdits(code, here), map: null }
  },
}

let vitest
const collected = new Map()

async function start({ provide }) {
  vitest = await createVitest(
    'test',
    {
      root,
      config: false,
      watch: false,
      cache: false,
      silent: true,
      include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
      reporters: [{}],
      env: { XDG_CACHE_HOME: join(tmpdir(), 'everytick-tests') },
      testTimeout: 60_000,
      hookTimeout: 60_000,
      pool: 'forks',
      maxWorkers: 1,
      provide,
    },
    { plugins: [overlay], logLevel: 'silent' },
  )
  await vitest.init()
}

/** Runs the tests of one file, or only those that name one of `kills`, with these edits made. */
async function run({ test, kills, edits: wanted }) {
  const ids = kills && (await idsOf(test)).filter(({ meta }) => kills.includes(meta.kills)).map(({ id }) => id)
  if (ids?.length === 0) return { unnamed: true, failed: [], passed: 0 }
  setEdits(wanted)
  try {
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications([specificationOf(test, ids)])
    const tests = testModules.flatMap((module) => [...module.children.allTests()])
    const errors = [
      ...unhandledErrors,
      ...testModules.flatMap((module) => [...module.errors(), ...suiteErrors(module)]),
    ]
    const failed = tests.filter((each) => each.result().state === 'failed')
    return {
      passed: tests.filter((each) => each.result().state === 'passed').length,
      failed: [
        ...failed.map((each) => ({ title: each.name, words: wordsOf(each.result().errors) })),
        ...(errors.length > 0 ? [{ title: `${test} as a whole`, words: wordsOf(errors) }] : []),
      ],
      unread: wanted.map(({ file }) => file).filter((file) => !mutated.has(file)),
    }
  } finally {
    setEdits([])
  }
}

function suiteErrors(module) {
  return [...module.children.allSuites()].flatMap((suite) => suite.errors())
}

function wordsOf(errors) {
  return errors
    .map(({ message, stack = '' }) => (stack.includes(message) ? stack : `${message}\n${stack}`))
    .join('\n')
    .slice(0, 1000)
}

async function idsOf(test) {
  if (!collected.has(test)) {
    const { testModules } = await vitest.collectTests([specificationOf(test)])
    const tests = testModules.flatMap((module) => [...module.children.allTests()])
    collected.set(
      test,
      tests.map((each) => ({ id: each.id, meta: each.meta() })),
    )
  }
  return collected.get(test)
}

function specificationOf(test, testIds) {
  vitest.state.filesMap.clear() // The results of an earlier run are not those of this one.
  return vitest.getRootProject().createSpecification(join(root, test), testIds && { testIds })
}

function setEdits(wanted) {
  for (const { file } of [...edits, ...wanted]) vitest.invalidateFile(join(root, file))
  edits = wanted
  mutated = new Set()
}

// Also ends the workers of Vitest, which are in the process group of this process.
process.once('disconnect', () => process.kill(-process.pid, 'SIGKILL'))
process.on('message', async ({ kind, ...job }) => {
  try {
    process.send({ result: await (kind === 'start' ? start(job) : run(job)) })
  } catch (error) {
    process.send({ error: String(error.stack ?? error) })
  }
})
