/** Creates SQLite stores under real umasks, in processes of their own, and reads the rights of every file on the disk. */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { everytick } from '../../src/index.ts'
import { diagnose } from '../../src/observe/diagnosis.ts'
import { openSqlite } from '../../src/store/sqlite/store.ts'
import { ensureBuilt } from '../built-package.ts'

const PACKAGE = new URL('../../dist/index.js', import.meta.url).href
beforeAll(ensureBuilt, 120_000)

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everytick-rights-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const rights = (path: string): string => (statSync(path).mode & 0o777).toString(8)
const allRights = (): Record<string, string> =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, rights(join(folder, name))]))

/** Runs `work` as it would under this umask; the umask is of the whole process, so that nothing else runs meanwhile. */
async function under<T>(umask: number, work: () => Promise<T>): Promise<T> {
  const before = process.umask(umask)
  try {
    return await work()
  } finally {
    process.umask(before)
  }
}

describe.each([0o000, 0o022, 0o077])('under the umask %o', (umask) => {
  it('a new database, its log and its shared memory are for their owner only', async () => {
    await under(umask, async () => {
      const store = await openSqlite({ path: join(folder, 'x.db') })
      try {
        expect(allRights()).toEqual({ 'x.db': '600', 'x.db-shm': '600', 'x.db-wal': '600' })
        expect((await store.upkeep.health()).exposedFiles).toEqual([])
      } finally {
        await store.close()
      }
    })
  })

  it('so is one that a link names before it is there', async () => {
    await under(umask, async () => {
      symlinkSync('real.db', join(folder, 'middle'))
      symlinkSync(join(folder, 'middle'), join(folder, 'x.db'))
      const store = await openSqlite({ path: join(folder, 'x.db') })
      await store.close()
      expect(rights(join(folder, 'real.db'))).toBe('600')
    })
  })

  it('an existing file keeps its rights, and the diagnosis names the command that takes them from others', async () => {
    await under(umask, async () => {
      const path = join(folder, 'it is.db')
      writeFileSync(path, '')
      chmodSync(path, 0o640)
      const store = await openSqlite({ path })
      try {
        expect(rights(path)).toBe('640')
        const { exposedFiles, ...health } = await store.upkeep.health()
        expect(exposedFiles).toEqual([path, `${path}-wal`, `${path}-shm`])
        const [finding] = diagnose({
          ...NOTHING,
          store: { ...health, exposedFiles, name: store.name, pool: null },
        }).filter(({ check }) => check === 'rights')
        expect(finding).toMatchObject({ level: 'warning', text: expect.stringContaining(path) })
        execFileSync('/bin/sh', ['-c', finding!.fix!])
        expect((await store.upkeep.health()).exposedFiles).toEqual([])
      } finally {
        await store.close()
      }
    })
  })
})

const NOTHING = {
  ...{ writes: null, sizes: null, skewMs: 0, planner: null, queues: null, zoneData: null, spikes: null },
  ...{ quarantined: null, deafChannels: null, failovers: null, alerts: null, watch: null },
}

describe('a file of a store', () => {
  it('is opened and written by two processes of one user', async () => {
    await under(0o000, async () => {
      const path = join(folder, 'x.db')
      const store = await openSqlite({ path })
      try {
        const code = `const { defineJob, everytick } = await import(${JSON.stringify(PACKAGE)})
          const job = defineJob({ name: 'other', run() {} })
          const app = everytick({ store: 'sqlite:' + process.argv[1], jobs: [job] })
          await app.enqueue(job)
          await app.stop()`
        execFileSync(process.execPath, ['--input-type=module', '-e', code, path])
        await using app = everytick({ store, jobs: [], foreignJobs: true })
        expect((await app.runs.list()).map(({ job }) => job)).toEqual(['other'])
        expect(new Set(Object.values(allRights()))).toEqual(new Set(['600']))
      } finally {
        await store.close()
      }
    })
  })

  it('of an address that is no path makes no file of that name', async () => {
    const store = await openSqlite({ path: ':memory:' })
    await store.close()
    const named = await openSqlite({ path: `${pathToFileURL(join(folder, 'a b.db'))}` }).catch(() => null)
    await named?.close()
    expect(existsSync('file:')).toBe(false)
    for (const mode of Object.values(allRights())) expect(mode).toBe('600')
  })
})
