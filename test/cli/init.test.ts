/** `everytick init`, by the built program: a project that runs and that compiles, and nothing of anybody's overwritten. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt, root, runNode } from '../built-package.ts'
import { everytick, PROGRAM, running } from './running.ts'

beforeAll(ensureBuilt)
const cwd = mkdtempSync(join(tmpdir(), 'everytick-init-'))
afterAll(() => rmSync(cwd, { recursive: true, force: true }))

const FILES = ['.gitignore', 'README.md', 'everytick.config.ts', 'jobs.ts', 'package.json', 'tsconfig.json']

describe('everytick init', () => {
  it('writes a project that runs as it is and compiles under strict rules', async () => {
    const init = everytick(['init', 'My Jobs', '--yes'], { cwd })
    expect(await init.ended).toBe(0)
    expect(init.shown()).toMatch(/wrote {2}My Jobs.jobs\.ts[\s\S]*npx everytick dev/)
    const folder = join(cwd, 'My Jobs')
    expect(readdirSync(folder).sort()).toEqual(FILES)
    expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))).toMatchObject({ name: 'my-jobs' })
    const dev = everytick(['dev', '--port', '0'], { cwd: folder })
    await dev.heard(/✓ hello .* next/)
    dev.interrupt()
    expect(await dev.ended).toBe(0)
    expect(dev.shown()).toMatch(/2 in code → 2 created/)
    mkdirSync(join(folder, 'node_modules', '@types'), { recursive: true })
    symlinkSync(root, join(folder, 'node_modules', 'everytick'), 'junction')
    symlinkSync(
      join(root, 'node_modules', '@types', 'node'),
      join(folder, 'node_modules', '@types', 'node'),
      'junction',
    )
    const { out } = runNode(join(root, 'node_modules/typescript/bin/tsc'), '-p', folder, '--types', 'node')
    expect(out).toBe('')
  })

  it('leaves what is there as it is, and with --dry-run everything', async () => {
    const folder = join(cwd, 'mine')
    const dry = everytick(['init', 'mine', '--dry-run'], { cwd })
    expect(await dry.ended).toBe(0)
    expect(existsSync(folder)).toBe(false)
    mkdirSync(folder)
    writeFileSync(join(folder, 'package.json'), '{ "name": "mine" }')
    const init = everytick(['init'], { cwd: folder })
    expect(await init.ended).toBe(0)
    expect(init.shown()).toMatch(/kept {3}package\.json[\s\S]*npm install everytick/)
    expect(readFileSync(join(folder, 'package.json'), 'utf8')).toBe('{ "name": "mine" }')
    expect(readdirSync(folder).sort()).toEqual(FILES)
  })

  it('says why when it cannot write', async () => {
    writeFileSync(join(cwd, 'a-file'), '')
    const init = everytick(['init', 'a-file'], { cwd })
    expect(await init.ended).toBe(1)
    expect(init.shown()).toContain('cannot write the project')
  })

  it.skipIf(process.platform !== 'linux')('asks on a terminal, and takes no for an answer', async () => {
    const init = running(['script', '-qec', `${process.execPath} ${PROGRAM} init asked`, '/dev/null'], { cwd })
    await init.heard('[y/N]')
    init.child.stdin!.write('n\r')
    expect(await init.ended).toBe(1)
    expect(existsSync(join(cwd, 'asked'))).toBe(false)
  })
})
