/** Turns src/ into dist/ and tells whether dist/ still is what src/ gives; when to build is for set-up and npm to say. */
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Compiles; answers with the compiler's exit code. A failed build leaves the former dist/ as it was. */
export async function build(root) {
  const { runChild } = await import('./child.mjs') // imported late: the silent second run needs only the question below
  const inputs = fingerprint(root) // taken first: a source saved while the compiler runs makes the build stale, not fresh
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const code = await runChild(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--noEmitOnError'], {
    cwd: root,
  })
  if (code !== 0) return code
  const outputs = outputsOf(root)
  removeStale(join(root, 'dist'), new Set(outputs))
  const bin = join(root, 'dist', 'cli', 'main.js')
  if (existsSync(bin)) chmodSync(bin, 0o755)
  const stamp = stampPath(root)
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, JSON.stringify({ root, inputs, outputs }))
  return 0
}

/** Why dist/ is not what src/ gives, or null when it is. */
export function whyBuild(root) {
  if (!existsSync(join(root, 'dist'))) return 'first time'
  const stamp = readStamp(root)
  if (stamp === null || stamp.root !== root) return 'the compiler is new here'
  if (stamp.inputs !== fingerprint(root)) return 'the sources changed'
  return allThere(join(root, 'dist'), stamp.outputs) ? null : 'files of the last build are missing'
}

/** Lives outside dist/ so that it is never published, and inside node_modules so that a new compiler means a new build. */
function stampPath(root) {
  return join(root, 'node_modules', '.cache', 'everytick', 'build.json')
}

function readStamp(root) {
  try {
    return JSON.parse(readFileSync(stampPath(root), 'utf8'))
  } catch {
    return null // absent or half-written: build again
  }
}

/** One hash over the names and contents of all that decides the output; times of files lie after a checkout or a restore. */
function fingerprint(root) {
  const settings = readdirSync(root).filter((name) => /^tsconfig.*\.json$/.test(name))
  const sources = filesUnder(join(root, 'src')).filter((path) => !path.endsWith('.test.ts'))
  const own = ['package.json', join('scripts', 'build.mjs'), ...settings].map((name) => join(root, name))
  const hash = createHash('sha256')
  for (const path of [...own, ...sources].sort()) {
    const content = readFileSync(path)
    hash.update(`${relative(root, path)}\n${content.length}\n`).update(content)
  }
  return hash.digest('hex')
}

function filesUnder(folder) {
  if (!existsSync(folder)) return []
  const paths = readdirSync(folder, { recursive: true }).map((name) => join(folder, name))
  return paths.filter((path) => statSync(path).isFile())
}

/** What the compiler writes for each source: code, types, and the map between code and source. */
function outputsOf(root) {
  const sources = filesUnder(join(root, 'src')).filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  const dist = join(root, 'dist')
  return sources
    .map((path) => relative(join(root, 'src'), path).slice(0, -'.ts'.length))
    .flatMap((name) => [`${name}.js`, `${name}.d.ts`, `${name}.js.map`])
    .filter((name) => existsSync(join(dist, name)))
}

/**
 * Removed after the compile rather than before it: a program that is running from dist/ meanwhile never finds it empty.
 */
function removeStale(dist, outputs) {
  for (const path of filesUnder(dist)) if (!outputs.has(relative(dist, path))) rmSync(path)
}

function allThere(dist, outputs) {
  const present = new Set(filesUnder(dist).map((path) => relative(dist, path)))
  return outputs.every((name) => present.has(name))
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const root = dirname(dirname(fileURLToPath(import.meta.url)))
  const { alone } = await import('./set-up-lock.mjs')
  const told = (pid) => process.stderr.write(`everytick: waiting for process ${pid}, which is setting up this clone\n`)
  process.exitCode = await alone(root, () => build(root), told)
}
