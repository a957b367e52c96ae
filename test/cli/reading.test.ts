/** Reading never writes, by the built program on both stores: no command but those that are meant to creates, migrates or changes a database. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { everytick as createApp, defineJob } from '../../src/index.ts'
import { openDatabase, releaseClosedFiles } from '../../src/store/sqlite/driver.ts'
import { ensureBuilt } from '../built-package.ts'
import { createDatabase } from '../postgres/launcher.ts'
import { CALLS, eachOf } from './every-command.ts'
import { needsProcess, runInProcess } from './in-process.ts'
import { everytick } from './running.ts'

beforeAll(ensureBuilt)
const ends: (() => Promise<void> | void)[] = []
afterAll(async () => {
  for (const end of ends) await end()
})

interface Ended {
  readonly code: number | null
  readonly shown: string
}

interface Place {
  /** Holds a crontab, a file to apply and a configuration, and nothing else. */
  readonly folder: string
  readonly address: string
  /** All that is kept there, so that two of them are equal only when nothing was written in between. */
  state(): Promise<unknown>
  /** Changes the database behind the back of the store. */
  alter(sqlite: string, postgres: string): Promise<void>
}

const FILES = {
  'my.cron': '30 2 * * * backup\n',
  'schedules.yaml': 'key: digest\nevery: 10m\njob: work\n',
  'everytick.config.ts': `import { defineJob, schedule } from 'everytick'
const work = defineJob({ name: 'work', run() {} })
export default { jobs: [work], schedules: [schedule({ key: 'hourly', every: '1h', job: work })] }`,
}

const PLACES = {
  async sqlite(): Promise<Place> {
    const folder = newFolder()
    const path = join(folder, 'everytick.db')
    return {
      folder,
      address: `sqlite:${path}`,
      async state() {
        await releaseClosedFiles()
        return [readdirSync(folder).sort(), existsSync(path) && readFileSync(path).toString('base64')]
      },
      async alter(sqlite) {
        const database = await openDatabase(path)
        database.exec(sqlite)
        database.close()
        await releaseClosedFiles()
      },
    }
  },
  async postgres(): Promise<Place> {
    const database = await createDatabase(inject('postgres'))
    const client = new pg.Client({ connectionString: database.url })
    client.on('error', () => {})
    await client.connect()
    ends.push(async () => {
      await client.end()
      await database.drop()
    })
    const folder = newFolder()
    return {
      folder,
      address: database.url,
      async state() {
        // The sequences do not count: a number of theirs that is lost changes nothing that is stored.
        const tables = await client.query(`
          select n.nspname || '.' || c.relname as name, c.relkind as kind from pg_class c join pg_namespace n on n.oid = c.relnamespace
          where n.nspname !~ '^pg_' and n.nspname <> 'information_schema' order by 1`)
        const rows: unknown[] = [readdirSync(folder).sort()]
        for (const { name, kind } of tables.rows) {
          const versions =
            kind === 'r' ? await client.query(`select t.ctid, t.xmin, t.xmax, t::text from ${name} t`) : null
          rows.push([name, versions?.rows])
        }
        return rows
      },
      alter: async (_, postgres) => void (await client.query(postgres)),
    }
  },
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'everytick-reading-'))
  ends.push(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text)
  return folder
}

/** In a process of its own only where it has to be. */
async function run(args: readonly string[], cwd: string): Promise<Ended> {
  if (needsProcess(args, cwd)) {
    const { ended, shown } = everytick(args, { cwd })
    return { code: await ended, shown: shown() }
  }
  const { code, out, err } = await runInProcess(args, { cwd, env: { ...process.env, DATABASE_URL: '' } })
  return { code, shown: out + err }
}

/** A few at a time, each in the folder of the place. */
async function runAll(place: Place, commands: readonly (readonly string[])[]): Promise<ReadonlyMap<string, Ended>> {
  const ended = await eachOf(
    commands,
    async (args) => [args.join(' '), await run([...args, '--db', place.address], place.folder)] as const,
  )
  return new Map(ended)
}

const AT = '2026-11-17T00:00:00Z'
/** Every command that reads a database. */
const READING = [
  ...['schedules ls', 'schedules get hourly', 'runs ls', `why hourly ${AT}`, 'next hourly', 'forecast', 'audit'],
  ...[
    'audit-log ls',
    'audit-log head',
    'audit-log verify',
    'queues ls',
    'workers ls',
    'keys ls',
    'alerts ls',
    'quotas',
  ],
  ...['alert-rules ls', 'channels ls', 'ops ls', 'backfill ls hourly', 'export crontab', 'doctor'],
].map((text) => text.split(' '))
/** Every kind of dry run that asks a database. */
const DRY = [
  ...['schedules pause hourly', 'schedules rm hourly', 'schedules edit hourly --every 2h', 'trigger hourly'],
  ...['keys create --name ops', 'apply -f schedules.yaml', 'sync', 'import crontab my.cron', 'queues pause default'],
  ...['schedules create new --every 1h --job work'],
].map((text) => [...text.split(' '), '--dry-run'])
/** Commands that may create a database, and those that ask none. */
const NOT_REFUSED = ['dev', 'serve', 'worker', 'init', 'explain', 'simulate', 'completion', 'migrate', 'bench']
/** Every other command, also those that write. */
const REFUSED = [
  ...Object.entries(CALLS).flatMap(([path, rest]) =>
    NOT_REFUSED.includes(path) ? [] : [[...path.split(' '), ...rest]],
  ),
  ...['import crontab my.cron --yes', 'bench --runs 10'].map((text) => text.split(' ')),
  ...DRY,
]

describe.each(['sqlite', 'postgres'] as const)('on %s', (store) => {
  it('no command creates a database that is not there, and each names the one that would', async () => {
    const place = await PLACES[store]()
    const before = await place.state()
    // Both stores are opened by the same lines.
    const ended = await runAll(place, store === 'sqlite' ? REFUSED : REFUSED.filter((_, i) => i % 6 === 0))
    for (const [command, { code, shown }] of ended) {
      expect([command, code], shown).toEqual([command, 3])
      expect(shown).toMatch(/^STORE_MISSING: /m)
      expect(shown).toContain(`everytick migrate --db ${place.address}`)
    }
    expect(await place.state()).toEqual(before)
  }, 240_000)

  it('reading and dry runs leave a database as it is, to the byte', async () => {
    const place = await PLACES[store]()
    const work = defineJob({ name: 'work', run() {} })
    const app = createApp({ store: place.address, jobs: [work] })
    await app.schedules.create({ key: 'hourly', every: '1h', job: 'work' })
    await app.enqueue(work)
    await app.stop()
    const before = await place.state()
    const ended = await runAll(place, store === 'sqlite' ? [...READING, ...DRY] : [...READING, ...DRY.slice(4)])
    // `doctor` finds that nobody works here.
    for (const [command, { code, shown }] of ended)
      expect([command, code], shown).toEqual([command, command === 'doctor' ? 5 : 0])
    expect(await place.state()).toEqual(before)
  }, 240_000)

  it('a newer schema is left as it is, with the advice to update', async () => {
    const place = await PLACES[store]()
    expect(await everytick(['migrate', '--db', place.address], { cwd: place.folder }).ended).toBe(0)
    const commands = [
      ['schedules', 'ls'],
      ['keys', 'create', '--name', 'a'],
      ['sync', '--dry-run'],
    ]
    await place.alter(
      `insert into everytick_migrations values (9999, 'from the future', 0)`,
      `insert into everytick.migrations values (9999, 'from the future', now())`,
    )
    const newer = await place.state()
    for (const [, { code, shown }] of await runAll(place, commands))
      expect([code, shown]).toEqual([1, expect.stringMatching(/^SCHEMA_TOO_NEW: [\s\S]*update everytick/im)])
    expect(await place.state()).toEqual(newer)
  }, 120_000)

  it('apply and sync create the database they write to', async () => {
    const [applied, synced] = [await PLACES[store](), await PLACES[store]()]
    const apply = everytick(['apply', '-f', 'schedules.yaml', '--db', applied.address], { cwd: applied.folder })
    const sync = everytick(['sync', '--db', synced.address], { cwd: synced.folder })
    expect([await apply.ended, await sync.ended], apply.shown() + sync.shown()).toEqual([0, 0])
    const listed = everytick(['schedules', 'ls', '--db', applied.address], { cwd: applied.folder })
    expect([await listed.ended, listed.shown()]).toEqual([0, expect.stringMatching(/^digest\t/m)])
  })
})

it('a preview of an import needs no database', async () => {
  const folder = newFolder()
  rmSync(join(folder, 'everytick.config.ts'))
  const before = readdirSync(folder)
  const preview = everytick(['import', 'crontab', 'my.cron', '--dry-run'], { cwd: folder })
  expect([await preview.ended, preview.shown()]).toEqual([0, expect.stringMatching(/^create\tbackup\t/m)])
  expect(readdirSync(folder)).toEqual(before)
})

it('the file of another program is not touched by a command pointed to it', async () => {
  const folder = newFolder()
  const path = join(folder, 'theirs.db')
  const database = await openDatabase(path)
  database.exec('create table notes (text text); insert into notes values (1)')
  database.close()
  const before = readFileSync(path)
  const listed = everytick(['schedules', 'ls', '--db', `sqlite:${path}`], { cwd: folder })
  expect([await listed.ended, listed.shown()]).toEqual([3, expect.stringContaining('STORE_MISSING')])
  expect(readFileSync(path).equals(before)).toBe(true)
  expect(readdirSync(folder).filter((name) => name.startsWith('theirs'))).toEqual(['theirs.db'])
})
