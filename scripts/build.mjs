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

/** Checks, compiles and bundles; answers with the compiler's exit code. A failed build leaves the former dist/ as it was. */
export async function build(root) {
  // Imported late: the silent second run needs only the question below.
  const [{ runChild }, { bundle }] = await Promise.all([import('./child.mjs'), import('./bundle.mjs')])
  const inputs = fingerprint(root) // taken first: a source saved while the compiler runs makes the build stale, not fresh
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const options = ['-p', 'tsconfig.build.json', '--noEmitOnError', '--emitDeclarationOnly']
  const [code, bundled] = await Promise.all([
    runChild(process.execPath, [compiler, ...options], { cwd: root }),
    bundle(root).catch((error) => error), // what is wrong with a source, the compiler says better
  ])
  if (code !== 0) return code
  if (bundled instanceof Error) throw bundled
  const dist = join(root, 'dist')
  for (const { name, text } of bundled) write(join(dist, name), text)
  const outputs = [...typesOf(root), ...bundled.map(({ name }) => name)]
  removeStale(dist, new Set(outputs))
  const bin = join(dist, 'cli', 'main.js')
  if (existsSync(bin)) chmodSync(bin, 0o755)
  write(stampPath(root), JSON.stringify({ root, inputs, outputs }))
  return 0
}

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
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
  const scripts = ['build.mjs', 'bundle.mjs'].map((name) => join('scripts', name))
  const own = ['package.json', ...scripts, ...settings].map((name) => join(root, name))
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

/** What the compiler writes for each source. */
function typesOf(root) {
  const src = join(root, 'src')
  const sources = filesUnder(src).filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  return sources
    .map((path) => `${relative(src, path).slice(0, -'.ts'.length)}.d.ts`)
    .filter((name) => existsSync(join(root, 'dist', name)))
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
