/** Holds the two commands to their first minute: a clone sets itself up, once, and never works in vain. npm is played by a script. */
import { spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { root } from './built-package.ts'

const places: string[] = []
let clone = ''

/** Stands in for `npm ci`: tells what it was asked, and lays out the packages by linking to those of this repository. */
const NPM = `
import fs from 'node:fs'
import path from 'node:path'
if (process.env.FAKE_NPM_FAILS) { console.error('npm error no network'); process.exit(7) }
fs.appendFileSync('npm-calls.txt', process.argv.slice(2).join(' ') + '\\n')
fs.rmSync('node_modules', { recursive: true, force: true })
fs.mkdirSync('node_modules')
const source = ${JSON.stringify(join(root, 'node_modules'))}
for (const name of fs.readdirSync(source))
  if (!['.cache', '.vite', '.package-lock.json'].includes(name)) fs.symlinkSync(path.join(source, name), path.join('node_modules', name), 'junction')
fs.copyFileSync(path.join(source, '.package-lock.json'), 'node_modules/.package-lock.json')`

const inClone = (path: string): string => join(clone, path)
const calls = (): string[] =>
  existsSync(inClone('npm-calls.txt')) ? readFileSync(inClone('npm-calls.txt'), 'utf8').trimEnd().split('\n') : []

interface Ending {
  readonly code: number | null
  readonly said: string[]
}

function setUp(args: readonly string[] = [], env: Record<string, string> = {}): Promise<Ending> {
  const child = spawn(process.execPath, [inClone('scripts/set-up.mjs'), ...args], {
    cwd: tmpdir(),
    env: { ...process.env, npm_execpath: inClone('npm-cli.js'), ...env },
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += String(chunk)))
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ code, said: text.split('\n').filter(Boolean) }))
  })
}

beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'everytick clone '))
  places.push(clone)
  for (const name of ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts'])
    cpSync(join(root, name), inClone(name), { recursive: true })
  mkdirSync(inClone('src/cli'), { recursive: true })
  writeFileSync(inClone('npm-cli.js'), NPM)
  writeFileSync(
    inClone('src/cli/main.ts'),
    "#!/usr/bin/env node\nimport { word } from '../word.ts'\nexport const said: string = word\n",
  )
  writeFileSync(inClone('src/word.ts'), "export const word: string = 'hello'\n")
})

afterAll(() => {
  for (const place of places) rmSync(place, { recursive: true, force: true })
})

describe('setting up a clone', () => {
  it('installs and builds the first time, saying so, and does nothing in silence the second time', async () => {
    const first = await setUp()
    expect(first).toEqual({
      code: 0,
      said: ['everytick: installing packages (first time)', 'everytick: building (first time)'],
    })
    expect(calls()).toEqual(['ci --include=dev --include=optional --no-audit --no-fund --loglevel=error'])
    const built = statSync(inClone('dist/cli/main.js'))
    if (process.platform !== 'win32') expect(built.mode & 0o111).toBe(0o111)
    expect(await setUp()).toEqual({ code: 0, said: [] })
    expect(statSync(inClone('dist/cli/main.js')).mtimeMs).toBe(built.mtimeMs)
    expect(existsSync(inClone('.everytick'))).toBe(false)
  })

  it('can be asked for the packages alone', async () => {
    expect((await setUp(['--no-build'])).said).toEqual(['everytick: installing packages (first time)'])
    expect(existsSync(inClone('dist'))).toBe(false)
  })

  it('installs again when a version is not the one of the lockfile, whatever the times of the files', async () => {
    await setUp(['--no-build'])
    const installed = inClone('node_modules/.package-lock.json')
    writeFileSync(
      installed,
      readFileSync(installed, 'utf8').replace(/("node_modules\/commander": \{\s*"version": )"[^"]*"/, '$1"1.0.0"'),
    )
    const { said } = await setUp(['--no-build'])
    expect(said).toEqual([
      expect.stringMatching(/^everytick: installing packages \(commander 1\.0\.0 is here, the lockfile wants /),
    ])
    expect(await setUp(['--no-build'])).toEqual({ code: 0, said: [] })
  })

  it('hands on what npm says when it fails, and its exit code', async () => {
    const { code, said } = await setUp([], { FAKE_NPM_FAILS: '1' })
    expect(code).toBe(7)
    expect(said.slice(1)).toEqual([
      'npm error no network',
      'everytick: npm ci failed with exit code 7; its own message is above',
    ])
  })

  it('builds again after a change and leaves nothing of a source that is gone', async () => {
    await setUp()
    writeFileSync(inClone('src/cli/main.ts'), '#!/usr/bin/env node\nexport const said: string = String(1)\n')
    rmSync(inClone('src/word.ts'))
    expect((await setUp()).said).toEqual(['everytick: building (the sources changed)'])
    expect(readdirSync(inClone('dist'))).toEqual(['cli'])
    rmSync(inClone('dist/cli/main.js'))
    expect((await setUp()).said).toEqual(['everytick: building (files of the last build are missing)'])
  })

  it('fails with the compiler and keeps the former build', async () => {
    await setUp()
    writeFileSync(inClone('src/word.ts'), 'export const word: string = 1\n')
    const { code, said } = await setUp()
    expect(code).not.toBe(0)
    expect(said[1]).toContain('src/word.ts')
    expect(readFileSync(inClone('dist/cli/main.js'), 'utf8')).toContain('hello')
  })

  it('is done once when several start together', async () => {
    const endings = await Promise.all([setUp(), setUp(), setUp()])
    expect(endings.map(({ code }) => code)).toEqual([0, 0, 0])
    expect(calls().length).toBe(1)
    expect(endings.flatMap(({ said }) => said).filter((line) => line.includes('building')).length).toBe(1)
    expect(existsSync(inClone('.everytick'))).toBe(false)
  })

  it('takes over from one that died halfway', async () => {
    const dead = spawn(process.execPath, ['-e', ''])
    await new Promise((resolve) => dead.on('exit', resolve))
    mkdirSync(inClone('.everytick/set-up.lock'), { recursive: true })
    const owner = { id: 'dead', pid: dead.pid, host: hostname() }
    writeFileSync(inClone('.everytick/set-up.lock/owner.json'), JSON.stringify(owner))
    const endings = await Promise.all([setUp(), setUp()])
    expect(endings.map(({ code }) => code)).toEqual([0, 0])
    expect(calls().length).toBe(1)
    expect(existsSync(inClone('.everytick'))).toBe(false)
  })
})
