/** Why a database takes no writes, as `doctor` asks: on real files and servers, with real locks and, where one can be mounted, a real full disk. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, describe, expect, inject, it } from 'vitest'
import { everytick } from '../../src/index.ts'
import { openStore } from '../../src/open-store.ts'
import { createServer } from '../../src/server/app.ts'
import type { Store } from '../../src/store/contract/store.ts'
import { openDatabase } from '../../src/store/sqlite/driver.ts'
import { openSqlite } from '../../src/store/sqlite/store.ts'
import { diskProblem } from '../../src/store/sqlite/write-problem.ts'
import { systemClock } from '../../src/time/clock.ts'
import { root } from '../built-package.ts'
import { createDatabase } from '../postgres/launcher.ts'
import { askOf } from '../server/stage.ts'

interface Database {
  readonly url: string
  fill(): Promise<void>
  free(): Promise<void>
  close(): Promise<void>
}
const disks = (await import(pathToFileURL(join(root, 'scripts/situations/databases.mjs')).href)) as {
  openDatabase(store: string, options: { disk: boolean }): Promise<Database>
  whyNoDisk(): string | null
}

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})
const opened = async (store: Promise<Store>): Promise<Store> => {
  const found = await store
  ends.push(() => found.close())
  return found
}

describe('what keeps a database from taking writes', () => {
  it('is the lock of another process on a SQLite file, for as long as it is held, and looking changes no byte', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'everytick-lock-'))
    ends.push(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'a.db')
    const store = await opened(openSqlite({ path, busyTimeoutMs: 30 }))
    const other = await openDatabase(path)
    ends.push(() => other.close())
    const bytes = (): string => [path, `${path}-wal`].map((each) => readFileSync(each, 'latin1')).join()
    const before = bytes()
    expect(await store.upkeep.writeProblem()).toBeNull()
    other.exec('begin immediate')
    expect(await store.upkeep.writeProblem()).toMatchObject({
      ...{ code: 'STORE_UNREACHABLE', message: expect.stringContaining('stayed locked') },
      hint: expect.stringContaining('another process holds'),
    })
    other.exec('rollback')
    expect(await store.upkeep.writeProblem()).toBeNull()
    expect(bytes()).toBe(before)
  })

  it('is what doctor finds wrong, and how it is mended', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'everytick-lock-'))
    ends.push(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'a.db')
    const store = await opened(openSqlite({ path, busyTimeoutMs: 30 }))
    const server = createServer(everytick({ store, jobs: [] }), {
      ...{ backgroundTasks: false, authorize: () => ({ scope: 'admin', name: 'test' }) as const },
    })
    const writes = async (): Promise<unknown> => {
      const { body } = await askOf(server, {})('GET', '/doctor')
      return body.findings.find(({ check }: { check: string }) => check === 'writes')
    }
    expect(await writes()).toMatchObject({ level: 'ok' })
    const other = await openDatabase(path)
    ends.push(() => other.close())
    other.exec('begin immediate')
    expect(await writes()).toMatchObject({
      ...{ level: 'wrong', text: `${path} stayed locked for 30ms` },
      fix: 'another process holds a transaction on this file: keep those short, or end it',
    })
  })

  it('is nothing for a database in memory, and for a server that has space', async () => {
    const database = await createDatabase(inject('postgres'))
    ends.push(() => database.drop())
    for (const address of ['sqlite::memory:', database.url]) {
      const store = await opened(openStore(address, { clock: systemClock, migrate: true }))
      expect(await store.upkeep.writeProblem()).toBeNull()
    }
  })

  it('is a disk with less than a mebibyte', () => {
    expect(diskProblem('a.db', 1_048_576)).toBeNull()
    expect(diskProblem('a.db', 1_048_575)).toMatchObject({
      ...{ code: 'STORE_FULL', message: 'a.db cannot grow: its disk is full (1023 KiB left)' },
      hint: 'free some space on the disk of a.db',
    })
  })

  it.skipIf(disks.whyNoDisk()).each(['sqlite', 'postgres'])(
    'is a full disk on %s, until there is space on it',
    async (name) => {
      const database = await disks.openDatabase(name, { disk: true })
      ends.push(() => database.close())
      const store = await opened(openStore(database.url, { clock: systemClock, migrate: true }))
      expect(await store.upkeep.writeProblem()).toBeNull()
      await database.fill()
      const problem = await store.upkeep.writeProblem()
      expect(problem).toMatchObject({ code: 'STORE_FULL', hint: expect.stringMatching(/^free some/) })
      await database.free()
      expect(await store.upkeep.writeProblem()).toBeNull()
    },
    60_000,
  )
})
