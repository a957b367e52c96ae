/** Holds the package to what its users are told: its doors open, its versions are fixed, and nothing else is in the box. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt, readText, root, runNode, runNpm } from './built-package.ts'
import { running } from './cli/running.ts'
import { importsOf, scan } from './source-scan.ts'

interface Manifest {
  readonly name: string
  readonly engines: { readonly node: string }
  readonly bin: Record<string, string>
  readonly exports: Record<string, string | Record<string, string>>
  readonly dependencies: Record<string, string>
  readonly devDependencies: Record<string, string>
  readonly peerDependencies: Record<string, string>
}

interface Lockfile {
  readonly packages: Record<string, Partial<Manifest> & { readonly resolved?: string; readonly integrity?: string }>
}

const manifest: Manifest = JSON.parse(readText('package.json'))
const lockfile: Lockfile = JSON.parse(readText('package-lock.json'))
const here = (path: string): string => join(root, path)

beforeAll(ensureBuilt)

describe('the doors', () => {
  it('all lead to files that the build makes', () => {
    const targets = Object.values(manifest.exports).flatMap((door) =>
      typeof door === 'string' ? [door] : Object.values(door),
    )
    expect(targets.filter((target) => !existsSync(here(target)))).toEqual([])
    expect(targets).toContain('./dist/cron.js')
  })

  it('open by the name a user writes, and what is not a door stays shut', () => {
    const script = `
      const cron = await import('everytick/cron')
      const whole = await import('everytick')
      const shut = await import('everytick/dist/errors.js').catch((error) => error.code)
      const next = cron.parseCron('30 2 * * *').next(new Date(0)).toISOString()
      console.log(JSON.stringify({ cron: Object.keys(cron), whole: Object.keys(whole).length, shut, next }))`
    const { code, out, err } = runNode('--input-type=module', '-e', script)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const found = JSON.parse(out)
    expect(found.cron).toEqual(
      expect.arrayContaining(['parseCron', 'every', 'once', 'tzdataVersion', 'EverytickError']),
    )
    expect(found.whole).toBeGreaterThan(0)
    expect(found.shut).toBe('ERR_PACKAGE_PATH_NOT_EXPORTED')
    expect(found.next).toBe('1970-01-01T02:30:00.000Z')
  })

  it('carry types that a strict user can compile against', () => {
    const folder = mkdtempSync(join(tmpdir(), 'everytick-user-'))
    try {
      mkdirSync(join(folder, 'node_modules'))
      symlinkSync(root, join(folder, 'node_modules', 'everytick'), 'junction')
      writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
      writeFileSync(
        join(folder, 'user.ts'),
        `import { EverytickError, every, once, parseCron, tzdataVersion } from 'everytick/cron'
         const next: Date | null = parseCron('0 9 * * 1-5', { timezone: 'Europe/Berlin', dst: { fold: 'both' } }).next(new Date(0))
         const all: Date[] = [...every('5m').between(new Date(0), new Date(1)), ...once(new Date(0)).nextMany(new Date(0), 1)]
         export const seen: [Date | null, Date[], string] = [next, all, tzdataVersion()]
         export const code = (error: unknown): string => (error instanceof EverytickError ? error.code : 'other')
         // @ts-expect-error: an unknown choice is refused by the compiler as well
         parseCron('* * * * *', { dst: { gap: 'move' } })`,
      )
      const compilerOptions = {
        noEmit: true,
        strict: true,
        module: 'nodenext',
        target: 'es2022',
        lib: ['es2022'],
        types: [],
      }
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['user.ts'] }))
      const { out } = runNode(here('node_modules/typescript/bin/tsc'), '-p', folder)
      expect(out).toBe('')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('have types that lean on no package but those a user gets', () => {
    const seen = new Set<string>()
    const leaning = (path: string): string[] => {
      if (seen.has(path)) return []
      seen.add(path)
      return importsOf(scan(readText(path))).flatMap((name) =>
        name.startsWith('.') ? leaning(join(dirname(path), name).replace(/\.[jt]s$/, '.d.ts')) : [name],
      )
    }
    const found = new Set(
      Object.values(manifest.exports).flatMap((door) => (typeof door === 'string' ? [] : leaning(door.types!))),
    )
    const theirs = new Set(Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }))
    expect([...found].filter((name) => !name.startsWith('node:') && !theirs.has(name))).toEqual([])
    expect(seen.size).toBeGreaterThan(100)
  })

  it('include a command that can be run', () => {
    for (const target of Object.values(manifest.bin)) {
      expect(readText(target)).toMatch(/^#!\/usr\/bin\/env node\n/)
      if (process.platform !== 'win32') expect(statSync(here(target)).mode & 0o111).toBe(0o111)
    }
  })
})

describe('the box', () => {
  it('holds the build and the papers, and no test, no source and no tool', () => {
    const [packed] = Object.values<{ files: { path: string }[] }>(
      JSON.parse(runNpm('pack', '--dry-run', '--json', '--ignore-scripts')),
    )
    const paths = packed!.files.map(({ path }) => path.replaceAll('\\', '/'))
    const papers = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json']
    expect(paths.filter((path) => !path.startsWith('dist/')).sort()).toEqual(papers)
    expect(paths).toContain('dist/cron.js')
    expect(
      paths.filter((path) => !/\.(?:js|d\.ts)$/.test(path) && ![...papers, 'dist/LICENSES.txt'].includes(path)),
    ).toEqual([])
    expect(paths.filter((path) => /\.test\.|(?:^|\/)(?:test|tests|fixtures)\//.test(path))).toEqual([])
  })
})

/** Other versions of Node come from the registry, once; they are no packages of ours. */
const NODES = here('node_modules/.cache/everytick/nodes')
const QUIET = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']

describe('installed in an empty folder, without install scripts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'everytick-box-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  /** Why not, when it could not be installed. */
  let refusal = ''

  /** Empty when it went well. */
  const npm = async (cwd: string, ...args: string[]): Promise<string> => {
    const { ended, shown } = running(['npm', ...args], { cwd })
    return (await ended) === 0 ? '' : `npm ${args[0]} failed: ${shown().split('\n')[0]}`
  }

  /** The program of that version, or why there is none. */
  const nodeOf = async (version: string): Promise<{ path: string } | { why: string }> => {
    if (version === 'ours') return { path: process.execPath }
    const platform = process.platform === 'win32' ? 'win' : process.platform
    const kind = platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node'
    const name = `${kind}-${platform}-${process.arch}`
    const place = join(NODES, version)
    const path = join(place, 'node_modules', name, 'bin', platform === 'win' ? 'node.exe' : 'node')
    if (existsSync(path)) return { path }
    mkdirSync(place, { recursive: true })
    writeFileSync(join(place, 'package.json'), '{ "private": true }')
    const why = await npm(place, 'install', ...QUIET, `${name}@${version}`)
    return existsSync(path) ? { path } : { why: why || `there is no ${name}@${version}` }
  }

  beforeAll(async () => {
    await npm(root, 'pack', '--ignore-scripts', '--pack-destination', folder)
    const box = readdirSync(folder).find((name) => name.endsWith('.tgz'))
    mkdirSync(join(folder, 'empty'))
    mkdirSync(join(folder, 'typed'))
    writeFileSync(join(folder, 'typed', 'word.ts'), "export const word: string = 'typed'")
    writeFileSync(
      join(folder, 'typed', 'jobs.ts'),
      `import { defineJob, schedule, type Job } from 'everytick'
       import { word } from './word.js'
       export const tick: Job = defineJob({ name: 'tick', run(ctx) { ctx.log.info(word) } })
       export const ticks = schedule({ key: 'tick', every: '1s', job: tick })`,
    )
    writeFileSync(join(folder, 'package.json'), '{ "private": true }')
    refusal = box ? await npm(folder, 'install', ...QUIET, `./${box}`) : 'npm pack made no box'
  })

  it.for([
    ['this version of Node', 'ours'],
    ['Node 22', '22'],
    ['Node 24', '24'],
  ])('everytick dev shows a run, answers, and runs TypeScript on %s', async ([, version], context) => {
    const node = await nodeOf(version!)
    const why = refusal || ('why' in node ? node.why : '')
    if (why !== '' && /ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNREFUSED|ENOTCACHED|network/i.test(why))
      return context.skip(why)
    expect(why).toBe('')
    const { path } = node as { path: string }
    const dev = (cwd: string) => {
      const program = join(folder, 'node_modules', 'everytick', 'dist', 'cli', 'main.js')
      return running([path, program, 'dev', '--port', '0', '--db', `sqlite:${version}.db`], { cwd: join(folder, cwd) })
    }
    const empty = dev('empty')
    const typed = dev('typed')
    await Promise.all([empty.heard(/✓ hello .* next/), typed.heard(/· tick +typed/)])
    const url = /overview {3}(http:\S+)/.exec(empty.shown())![1]
    expect((await fetch(`${url}/api/v1/overview`)).status).toBe(200)
    for (const { interrupt } of [empty, typed]) interrupt()
    expect([await empty.ended, await typed.ended]).toEqual([0, 0])
    expect(`${empty.shown()}${typed.shown()}`).not.toMatch(/warning/i)
  })

  it('npx finds the command', async () => {
    const npx = running(['npx', '--offline', 'everytick', 'next', '@daily', '-n', '1'], { cwd: folder })
    expect([await npx.ended, npx.shown()]).toEqual([0, expect.stringMatching(/T00:00:00Z/)])
  })
})

describe('the versions', () => {
  it('are fixed to the patch for every package we name', () => {
    const named = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })
    expect(named.filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))).toEqual([])
  })

  it('are the same in the lockfile, so that a clean install passes', () => {
    const { dependencies, devDependencies, engines, bin } = lockfile.packages['']!
    const { dependencies: ours, devDependencies: tools } = manifest
    expect({ dependencies, devDependencies, engines, bin }).toEqual({
      dependencies: ours,
      devDependencies: tools,
      engines: manifest.engines,
      bin: manifest.bin,
    })
  })

  it('are locked by content and not by the address of one download server', () => {
    const entries = Object.entries(lockfile.packages).filter(([path]) => path.startsWith('node_modules/'))
    expect(entries.filter(([, entry]) => entry.resolved !== undefined).map(([path]) => path)).toEqual([])
    expect(entries.filter(([, entry]) => entry.integrity === undefined).map(([path]) => path)).toEqual([])
  })

  it('promise the oldest Node we type-check against', () => {
    expect(manifest.engines.node).toBe('>=20.19.0')
    expect(manifest.devDependencies['@types/node']).toMatch(/^20\./)
  })
})
