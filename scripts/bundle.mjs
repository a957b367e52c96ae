/**
 * Decides what dist/ consists of: a file for each door and each program, chunks for what they share, and some packages taken
 * in. A command then reads a handful of files instead of hundreds of small ones, which is most of the time it takes to
 * start. Types are the compiler's matter, and when to build build.mjs's.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Packages that become part of ours, each many small modules or on the way to every command. Nothing of them shows in our
 * types, and users install that much less.
 */
export const TAKEN_IN = ['@hono/node-server', 'commander', 'hono', 'picocolors', 'yaml', 'zod']

/** Started by path beside those that start them, so they lie where the chunks lie. */
const PROGRAMS = { 'chunks/child': 'cli/dev/child', 'chunks/import-hook': 'cli/import-hook' }
/** No doors of the package; benchmarks and tests reach in here. */
const INSIDE = ['cli/program', 'engine/planner', 'store/sqlite/driver', 'time/clock', 'uuid']

/**
 * What is always read together lies together: a file more costs a millisecond. The first that fits counts. A chunk draws in all
 * that its modules import, so nothing that loads much may stand with what is loaded by everybody.
 */
const TOGETHER = [
  { name: 'errors', test: /src\/(?:errors|did-you-mean)\.ts$/ },
  { name: 'time', test: /src\/(?:time|schedule)\// },
  {
    name: 'program',
    test: /src\/cli\/(?:program|io|config|backend|usage-error)\.ts$|src\/(?:cli\/program\/|server\/version)|node_modules\/commander/,
  },
  { name: 'words', test: /src\/cli\/(?:print|timing-input|instant-text|commands\/next)\.ts$/ },
]

/** Answers the files of dist/ that are code, with their texts. */
export async function bundle(root) {
  const { rolldown } = await import('rolldown')
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const foreign = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
  const taken = new Set()
  const work = await rolldown({
    cwd: root,
    input: entriesOf(root, manifest),
    platform: 'node',
    external: (id) => foreign.some((name) => id === name || id.startsWith(`${name}/`)),
    plugins: [versionOf(manifest), unusedByCommander, { name: 'taken-in', transform: (_, id) => note(taken, id) }],
    logLevel: 'silent',
  })
  const { output } = await work.generate({
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name].js',
    codeSplitting: { groups: TOGETHER },
    // Words for people are in the types; what bundlers read stays.
    comments: { legal: false, jsdoc: false, annotation: true },
  })
  await work.close()
  const code = output.map(({ fileName, code }) => ({ name: fileName, text: code }))
  const papers = [...taken].sort().map((name) => paperOf(root, name))
  return papers.length === 0 ? code : [...code, { name: 'LICENSES.txt', text: papers.join('\n') }]
}

function entriesOf(root, { exports, bin }) {
  const doors = [...Object.values(exports), ...Object.values(bin)]
    .map((target) => (typeof target === 'string' ? target : target.default))
    .filter((target) => target.endsWith('.js'))
    .map((target) => target.replace(/^(?:\.\/)?dist\//, '').replace(/\.js$/, ''))
  const entries = { ...Object.fromEntries([...doors, ...INSIDE].map((name) => [name, name])), ...PROGRAMS }
  const sources = Object.entries(entries).map(([name, source]) => [name, join(root, 'src', `${source}.ts`)])
  return Object.fromEntries(sources.filter(([, source]) => existsSync(source)))
}

/** The manifest need not be looked for and read by every program. */
const versionOf = ({ version }) => ({
  name: 'version',
  load: (id) =>
    id.replaceAll('\\', '/').endsWith('/src/server/version.ts')
      ? { code: `export const ownVersion = () => ${JSON.stringify(version)}`, moduleType: 'js' }
      : null,
})

/** Loading it takes longer than all else that `--help` does, and no command of ours is a program of its own to be started. */
const unusedByCommander = {
  name: 'unused-by-commander',
  resolveId: (id, from) => (id === 'node:child_process' && from?.includes('commander') ? '\0nothing' : null),
  load: (id) => (id === '\0nothing' ? { code: 'export default {}', moduleType: 'js' } : null),
}

function note(taken, id) {
  const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id.replaceAll('\\', '/')) ?? []
  if (name === undefined) return null
  if (!TAKEN_IN.includes(name)) throw new Error(`${name} is neither a dependency nor one of those that are taken in`)
  taken.add(name)
  return null
}

/** Whoever passes a package on passes its licence on. */
function paperOf(root, name) {
  const folder = join(root, 'node_modules', name)
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))
  const text = file === undefined ? '' : `\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
  return `${name} ${version} (${license})\n${text}`
}
