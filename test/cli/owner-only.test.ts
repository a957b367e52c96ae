/** Runs the built program under real umasks and walks the disk afterwards: everything it created is for its owner only, what was there keeps its rights. */
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Ending, ensureBuilt } from '../built-package.ts'
import { PROGRAM } from './running.ts'

beforeAll(ensureBuilt, 120_000)
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everytick-owner-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const { DATABASE_URL: _db, EVERYTICK_URL: _url, EVERYTICK_TOKEN: _token, ...around } = process.env

function run(umask: string, args: readonly string[], input = ''): Promise<Ending> {
  const child = spawn('/bin/sh', ['-c', `umask ${umask}; exec "$@"`, 'sh', process.execPath, PROGRAM, ...args], {
    cwd: folder,
    env: { ...around, NO_COLOR: '1', HOME: folder, XDG_CACHE_HOME: join(folder, 'caches', 'mine') },
  })
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  child.stdin.end(input)
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })))
}

/** Paths and rights of everything below the folder. */
function rightsBelow(place = folder): [path: string, rights: string][] {
  return readdirSync(place, { withFileTypes: true }).flatMap((entry) => {
    const path = join(place, entry.name)
    const own: [string, string] = [path.slice(folder.length + 1), (statSync(path).mode & 0o777).toString(8)]
    return entry.isDirectory() ? [own, ...rightsBelow(path)] : [own]
  })
}
const isFolder = (path: string): boolean => statSync(join(folder, path)).isDirectory()
const open = (): string[] =>
  rightsBelow()
    .filter(([path, rights]) => rights !== (isFolder(path) ? '700' : '600'))
    .map(([path, rights]) => `${path} ${rights}`)
const names = (): string[] => rightsBelow().map(([path]) => path)

describe.each(['000', '022'])('under the umask %s', (umask) => {
  it('a new project, its database and its compiled configuration are for their owner only', async () => {
    expect(await run(umask, ['init', 'deep/project', '--yes'])).toMatchObject({ code: 0 })
    const config = join('deep', 'project', 'everytick.config.ts')
    expect(await run(umask, ['dev', '--port', '0', '--seconds', '1', '--config', config])).toMatchObject({ code: 0 })
    expect(names()).toEqual(
      expect.arrayContaining([config, join('.everytick', 'dev.db'), join('.everytick', '.gitignore')]),
    )
    expect(names().filter((name) => name.startsWith(join('caches', 'mine', 'everytick', 'compiled')))).not.toEqual([])
    expect(open()).toEqual([])
  })

  it('so are databases that commands create, and what is imported and exported', async () => {
    const db = ['--db', `sqlite:${join(folder, 'x.db')}`]
    writeFileSync(join(folder, 'my.cron'), 'TOKEN=secret\n@daily /bin/true\n')
    chmodSync(join(folder, 'my.cron'), 0o644)
    for (const args of [
      ['migrate', ...db],
      ['import', 'crontab', 'my.cron', ...db],
      ['export', 'crontab', '--out', 'out.cron', ...db],
      ['bench', '--runs', '10'],
    ])
      expect(await run(umask, args), args.join(' ')).toMatchObject({ code: 0 })
    expect(names()).toEqual(expect.arrayContaining(['x.db', 'jobs.ts', 'out.cron']))
    expect(open()).toEqual(['my.cron 644'])
  })
})

describe('what was there before', () => {
  it('keeps its rights, and doctor names the command that takes them from others', async () => {
    const path = join(folder, 'x.db')
    writeFileSync(path, '')
    chmodSync(path, 0o644)
    mkdirSync(join(folder, 'kept'))
    chmodSync(join(folder, 'kept'), 0o755)
    await run('000', ['migrate', '--db', `sqlite:${path}`])
    await run('000', ['init', 'kept', '--yes'])
    expect(statSync(path).mode & 0o777).toBe(0o644)
    expect(statSync(join(folder, 'kept')).mode & 0o777).toBe(0o755)
    const warned = await run('022', ['doctor', '--db', `sqlite:${path}`])
    expect(warned.out).toMatch(
      new RegExp(`^warning\\trights\\tother users of this machine can open ${path}.*\\tchmod 600 ${path}`, 'm'),
    )
    chmodSync(path, 0o600)
    expect((await run('022', ['doctor', '--db', `sqlite:${path}`])).out).not.toContain('rights')
  })
})
