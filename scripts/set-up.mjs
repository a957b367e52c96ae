/**
 * Makes a clone ready to run: decides whether packages must be installed or sources built, and does only that, telling
 * what it does on standard error. How to build is build.mjs's matter; `--no-build` stops after the packages.
 */
// This file must be readable by a Node far too old for the rest, to tell its owner so: no newer syntax here, and the
// other scripts are imported only after the check.
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const say = (line) => process.stderr.write(`everytick: ${line}\n`)

async function setUp({ withBuild }) {
  const tooOld = olderNode()
  if (tooOld) return refuse(tooOld)
  const { build, whyBuild } = await import('./build.mjs')
  const whyBuildNow = () => (withBuild ? whyBuild(root) : null)
  if (whyInstall() === null && whyBuildNow() === null) return 0

  const { alone } = await import('./set-up-lock.mjs')
  const work = async () => {
    // Asked again under the lock: whoever was ahead of us may have done it all.
    const toInstall = whyInstall()
    if (toInstall !== null) {
      say(`installing packages (${toInstall})`)
      const code = await install()
      if (code !== 0) return refuse(`npm ci failed with exit code ${code}; its own message is above`, code)
    }
    const toBuild = whyBuildNow()
    if (toBuild === null) return 0
    say(`building (${toBuild})`)
    const code = await build(root)
    return code === 0 ? 0 : refuse(`the build failed with exit code ${code}; the compiler's message is above`, code)
  }
  return alone(root, work, (pid) => say(`waiting for process ${pid}, which is setting up this clone`))
}

function refuse(line, code) {
  say(line)
  return code === undefined ? 1 : code
}

function olderNode() {
  const wanted = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).engines.node
  const [major, minor] = wanted.match(/\d+/g).map(Number)
  const [ourMajor, ourMinor] = process.versions.node.split('.').map(Number)
  if (ourMajor > major || (ourMajor === major && ourMinor >= minor)) return null
  return `Node ${process.versions.node} is too old; install Node ${major}.${minor} or newer, then run this again`
}

/** Why node_modules does not hold what package-lock.json asks for, or null when it does. Looks at versions, never at times. */
function whyInstall() {
  const lockfile = readJson('package-lock.json')
  const installed = readJson(join('node_modules', '.package-lock.json'))
  if (lockfile === null) return 'package-lock.json cannot be read' // npm ci says what is wrong with it
  if (installed === null) return existsSync(join(root, 'node_modules')) ? 'node_modules is incomplete' : 'first time'
  const wanted = lockfile.packages
  for (const [path, entry] of packagesOf(lockfile)) {
    const here = installed.packages[path]
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
    if (here === undefined && !entry.optional) return `${name} is missing`
    if (here !== undefined && (here.version !== entry.version || here.integrity !== entry.integrity))
      return `${name} ${here.version} is here, the lockfile wants ${entry.version}`
  }
  for (const [path, entry] of packagesOf(installed)) {
    if (wanted[path] === undefined && !entry.extraneous) return `${path} is no longer wanted`
    if (!suits(entry.os, process.platform) || !suits(entry.cpu, process.arch)) return `${path} is for another machine`
    if (!existsSync(join(root, path, 'package.json'))) return `${path} is missing`
  }
  return null
}

function packagesOf(lockfile) {
  return Object.entries(lockfile.packages).filter(([path]) => path.includes('node_modules/'))
}

function suits(allowed, ours) {
  if (allowed === undefined || allowed.includes('any')) return true
  if (allowed.includes(`!${ours}`)) return false
  return allowed.includes(ours) || allowed.every((name) => name.startsWith('!'))
}

function readJson(name) {
  try {
    return JSON.parse(readFileSync(join(root, name), 'utf8'))
  } catch (error) {
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return null
    throw error
  }
}

async function install() {
  const { runChild } = await import('./child.mjs')
  // Building and testing need the development packages even where the environment says production.
  const args = ['ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error']
  const running = process.env.npm_execpath
  // The npm that started us, unless it is another package manager; on Windows npm is a batch file, which needs a shell.
  if (running && basename(running) === 'npm-cli.js')
    return runChild(process.execPath, [running].concat(args), { cwd: root })
  const windows = process.platform === 'win32'
  return runChild(windows ? 'npm.cmd' : 'npm', args, { cwd: root, shell: windows })
}

setUp({ withBuild: !process.argv.includes('--no-build') }).then(
  (code) => {
    process.exitCode = code
  },
  (error) => {
    say(
      error.code === 'ENOENT' && error.path === 'npm'
        ? 'npm was not found; install it, then run this again'
        : error.message,
    )
    process.exitCode = 1
  },
)
