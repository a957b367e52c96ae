/** Whether the rivals are installed, how they get there, and which Node they run on; they are never installed unasked. */
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runChild } from '../../scripts/child.mjs'

const FOLDER = fileURLToPath(new URL('.', import.meta.url))
const HOW = 'install them with: npm run bench -- rivals --install'

/** Why the race cannot begin, or null. */
export function whyNotReady() {
  const wanted = readJson('package-lock.json')
  const here = readJson(join('node_modules', '.package-lock.json'))
  if (here === null) return `the rivals are not installed; ${HOW}`
  for (const [path, { version, optional }] of Object.entries(wanted.packages)) {
    if (path === '' || optional) continue
    if (here.packages[path]?.version !== version) return `${path} ${version} is wanted by the lockfile; ${HOW}`
  }
  return null
}

/** Answers npm's exit code. */
export async function install() {
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error']
  const running = process.env.npm_execpath
  // The npm that started us, unless it is another package manager; on Windows npm is a batch file, which needs a shell.
  if (running && basename(running) === 'npm-cli.js')
    return runChild(process.execPath, [running, ...args], { cwd: FOLDER })
  const windows = process.platform === 'win32'
  return runChild(windows ? 'npm.cmd' : 'npm', args, { cwd: FOLDER, shell: windows })
}

/** The Node that all contenders run on, ours too: the one installed beside the rivals, else the one that runs this. */
export function nodeForAll() {
  const windows = process.platform === 'win32'
  const name = `node-${windows ? 'win' : process.platform}-${process.arch}`
  const execPath = join(FOLDER, 'node_modules', name, 'bin', windows ? 'node.exe' : 'node')
  if (!existsSync(execPath)) return { execPath: process.execPath, version: process.versions.node }
  return { execPath, version: versionOf(name) }
}

/** The version of an installed package. */
export const versionOf = (name) => readJson(join('node_modules', name, 'package.json')).version

/** Why a rival cannot run on this version of Node, or null. */
export function whyNotOn(version, name) {
  const wanted = readJson(join('node_modules', name, 'package.json')).engines?.node
  const least = wanted?.match(/^>=\s*([\d.]+)$/)?.[1]
  return least === undefined || compare(version, least) >= 0 ? null : `needs Node ${wanted}, this is ${version}`
}

function compare(a, b) {
  const [ours, theirs] = [a, b].map((text) => text.split('.').map(Number))
  for (let i = 0; i < 3; i++) {
    const difference = (ours[i] ?? 0) - (theirs[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

function readJson(name) {
  try {
    return JSON.parse(readFileSync(join(FOLDER, name), 'utf8'))
  } catch (error) {
    if (error.code === 'ENOENT') return null
    throw error
  }
}
