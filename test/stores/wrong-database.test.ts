/** A wrong database, role, password, host, certificate or right, on real servers and files: a code of ours and the setting to check, from code and from the command line. */
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { defineJob, type Everytick, EverytickError, everytick } from '../../src/index.ts'
import { openDatabase } from '../../src/store/sqlite/driver.ts'
import { ensureBuilt } from '../built-package.ts'
import { everytick as program } from '../cli/running.ts'
import { type PostgresServer, startPostgres } from '../postgres/launcher.ts'
import { CERTIFICATE, KEY } from '../targets/guard-certificate.ts'

/** In every address of these tests, and in no message. */
const SECRET = 'hunter2-is-secret'
const work = defineJob({ name: 'work', run() {} })
const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Calls of every part of an app. */
const CALLS: readonly ((app: Everytick) => Promise<unknown>)[] = [
  (app) => app.schedules.list(),
  (app) => app.schedules.create({ key: 'a', every: '1h', job: work }),
  (app) => app.enqueue(work),
  (app) => app.runs.list(),
  (app) => app.queues.list(),
  (app) => app.backfills.list(),
  (app) => app.locks.run('a', { ttl: '5s' }, async () => {}),
  (app) => app.sync(),
  (app) => app.audit(),
  (app) => app.start(),
]

async function refusals(store: string): Promise<unknown[]> {
  const app = everytick({ store, jobs: [work], logger: quiet })
  const thrown = await Promise.all(CALLS.map((call) => call(app).catch((error: unknown) => error)))
  await app.stop()
  return thrown
}

/** What every call of an app answers, and what the command line prints. */
async function expectRefusal(store: string, code: string, text: RegExp, hint: RegExp): Promise<void> {
  for (const error of await refusals(store)) {
    expect(error).toBeInstanceOf(EverytickError)
    const { code: told, message, hint: advice } = error as EverytickError
    expect([told, message, advice]).toEqual([code, expect.stringMatching(text), expect.stringMatching(hint)])
    expect(`${message} ${advice}`).not.toContain(SECRET)
  }
  const listed = program(['schedules', 'ls', '--db', store], { cwd: tmpdir() })
  expect([(await listed.ended) === 0, listed.shown()]).toEqual([
    false,
    expect.stringMatching(new RegExp(`^${code}: `, 'm')),
  ])
  // No word of the driver's own either.
  expect(listed.shown()).not.toMatch(new RegExp(`${SECRET}|INTERNAL|bug in Everytick|Warning: `))
}

describe('a Postgres server', () => {
  let server: PostgresServer
  let admin: pg.Client
  const address = (change: (url: URL) => void): string => {
    const url = new URL(server.url)
    url.password = SECRET
    change(url)
    return url.href
  }
  const asRole = (username: string, password = SECRET): string =>
    address((url) => Object.assign(url, { username, password }))

  beforeAll(async () => {
    ensureBuilt()
    server = await startPostgres({ own: true })
    admin = new pg.Client({ connectionString: server.url })
    await admin.connect()
    await admin.query(`
      create role locked login password 'another'; create role secured login; create role weak login; create role blocked;
      create role hasty login; alter role hasty set statement_timeout = '1ms'; create role reader login; alter role reader set default_transaction_read_only = on`)
    const hba = (await admin.query('show hba_file')).rows[0].hba_file
    // In place, so that it stays the file of the user that the server runs as.
    writeFileSync(
      hba,
      `host all locked 127.0.0.1/32 scram-sha-256\nhostssl all secured 127.0.0.1/32 trust\nhostnossl all secured 127.0.0.1/32 reject\n${readFileSync(hba, 'utf8')}`,
    )
    await admin.query('select pg_reload_conf()')
    const open = everytick({ store: server.url, jobs: [] })
    await open.schedules.list()
    await open.stop()
    // A reload arrives when it arrives.
    await vi.waitFor(
      async () => expect((await refusals(asRole('locked')))[0]).toMatchObject({ code: 'STORE_DENIED' }),
      { timeout: 30_000 },
    )
  }, 120_000)
  afterAll(async () => {
    await admin.end()
    await server.stop()
  })

  it('says of a database that there is none of that name', () =>
    expectRefusal(
      address((url) => (url.pathname = '/nowhere')),
      'STORE_MISSING',
      /"nowhere" does not exist/,
      /name of the database/,
    ))

  it('says of a role that there is none of that name', () =>
    expectRefusal(asRole('nobody'), 'STORE_DENIED', /role "nobody" does not exist/, /check the role/))

  it('says of a role that it may not log in', () =>
    expectRefusal(asRole('blocked'), 'STORE_DENIED', /not permitted to log in/, /alter role/))

  it('says of a password that it is wrong, or missing', async () => {
    await expectRefusal(asRole('locked'), 'STORE_DENIED', /refuses the password/, /role and its password/)
    await expectRefusal(asRole('locked', ''), 'STORE_DENIED', /asks for a password/, /add one/)
  })

  it('says of a database that it takes no connections, and of an address that it has a parameter that there is not', async () => {
    await admin.query('create database closed')
    await admin.query('alter database closed allow_connections false')
    await expectRefusal(
      address((url) => (url.pathname = '/closed')),
      'STORE_UNUSABLE',
      /refuses the connection: .*not currently accepting/,
      /accepts connections/,
    )
    await expectRefusal(
      address((url) => url.searchParams.set('options', '-c nothing=1')),
      'STORE_UNUSABLE',
      /refuses the connection: .*parameter "nothing"/,
      /parameters of the address/,
    )
  })

  it('says of a role that its statements are cancelled', async () => {
    await admin.query('grant create on database postgres to hasty')
    const elsewhere = address((url) => {
      url.username = 'hasty'
      url.searchParams.set('schema', 'hasty')
    })
    for (const error of await refusals(elsewhere))
      expect(error).toMatchObject({ code: 'STORE_UNUSABLE', hint: expect.stringMatching(/statement_timeout/) })
  })

  it('says of a port that nobody listens, or somebody who is not Postgres', async () => {
    await expectRefusal(
      address((url) => (url.port = '1')),
      'STORE_UNREACHABLE',
      /does not listen/,
      /host and port/,
    )
    const http = createServer((request) => request.socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    http.on('clientError', (_, socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    const { port } = http.address() as AddressInfo
    try {
      await expectRefusal(
        address((url) => (url.port = String(port))),
        'STORE_UNREACHABLE',
        /postgres/,
        /\w/,
      )
    } finally {
      http.close()
    }
  })

  it('says of a host that it has no address', () =>
    expectRefusal(
      address((url) => (url.hostname = 'nowhere.invalid')),
      'STORE_UNREACHABLE',
      /host name/,
      /check the host/,
    ))

  it('says of TLS that it is not offered, or wanted', async () => {
    const secured = address((url) => url.searchParams.set('sslmode', 'require'))
    await expectRefusal(secured, 'STORE_TLS', /does not offer TLS/, /sslmode=disable/)
    await expectRefusal(asRole('secured'), 'STORE_TLS', /without TLS/, /sslmode=require/)
    const certificate = address((url) => url.searchParams.set('sslrootcert', '/nowhere/ca.pem'))
    await expectRefusal(certificate, 'STORE_TLS', /\/nowhere\/ca\.pem/, /sslrootcert/)
    const folder = address((url) => url.searchParams.set('sslrootcert', tmpdir()))
    await expectRefusal(folder, 'STORE_TLS', /names a folder/, /sslrootcert/)
  })

  it('says of a right that it is missing, on the schema or to make one', async () => {
    await expectRefusal(asRole('weak'), 'STORE_DENIED', /permission denied for schema/, /Rights/)
    const elsewhere = address((url) => {
      url.username = 'weak'
      url.searchParams.set('schema', 'other')
    })
    for (const error of await refusals(elsewhere))
      expect(error).toMatchObject({
        code: 'STORE_DENIED',
        message: expect.stringMatching(/permission denied for database/),
      })
  })

  it('says of a role that it may only read', async () => {
    const elsewhere = address((url) => {
      url.username = 'reader'
      url.searchParams.set('schema', 'other')
    })
    await admin.query('grant create on database postgres to reader')
    for (const error of await refusals(elsewhere))
      expect(error).toMatchObject({ code: 'STORE_UNREACHABLE', message: expect.stringMatching(/read-only/) })
  })

  it('says of a certificate that it is not trusted, or names another host', async () => {
    const folder = (await admin.query('show data_directory')).rows[0].data_directory
    const { uid, gid } = statSync(folder)
    const [key, certificate] = ['server.key', 'server.crt'].map((name) => join(folder, name)) as [string, string]
    for (const [file, text] of [
      [key, KEY],
      [certificate, CERTIFICATE],
    ] as const) {
      writeFileSync(file, text, { mode: 0o600 })
      chownSync(file, uid, gid)
    }
    await admin.query('alter system set ssl = on')
    await admin.query('select pg_reload_conf()')
    try {
      await vi.waitFor(async () => expect((await admin.query('show ssl')).rows[0].ssl).toBe('on'), { timeout: 30_000 })
      const secured = address((url) => url.searchParams.set('sslmode', 'verify-full'))
      await vi.waitFor(async () => expect(String((await refusals(secured))[0])).not.toContain('does not offer TLS'), {
        timeout: 30_000,
      })
      await expectRefusal(secured, 'STORE_TLS', /certificate that is not trusted/, /sslrootcert/)
      const known = new URL(secured)
      known.searchParams.set('sslrootcert', certificate)
      await expectRefusal(known.href, 'STORE_TLS', /certificate for another host/, /host/)
    } finally {
      await admin.query('alter system reset ssl')
      await admin.query('select pg_reload_conf()')
    }
  })

  it('is named without a part of a password that holds an @', () =>
    expectRefusal(
      `postgres://postgres:p@${SECRET}@${new URL(server.url).host}/nowhere`,
      'STORE_MISSING',
      /^postgres postgres@127\.0\.0\.1:\d+\/nowhere does not exist/,
      /name of the database/,
    ))

  it('is not asked with an address whose password would show', async () => {
    for (const text of [`postgres://app:12/${SECRET}@127.0.0.1/x`, `postgres://app:${SECRET}/@127.0.0.1/x`]) {
      expect(() => everytick({ store: text, jobs: [] })).toThrow(expect.objectContaining({ code: 'STORE_URL_INVALID' }))
      for (const option of ['--db', '--url']) {
        const listed = program(['schedules', 'ls', option, text], { cwd: tmpdir() })
        expect([await listed.ended, listed.shown()]).toEqual([2, expect.not.stringContaining(SECRET)])
      }
    }
    const url = program(['schedules', 'ls', '--url', `http://app:${SECRET}@127.0.0.1:1`], { cwd: tmpdir() })
    expect([await url.ended, url.shown()]).toEqual([2, expect.stringMatching(/--token/)])
    expect(url.shown()).not.toContain(SECRET)
  })
})

describe('a SQLite file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'everytick-wrong-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const at = (name: string): string => `sqlite:${join(folder, name)}`

  it('says that its folder is missing', async () => {
    for (const error of await refusals(at('no/such/place.db')))
      expect(error).toMatchObject({ code: 'STORE_MISSING', message: expect.stringMatching(/there is no folder/) })
  })

  it('says that it is no database, or no file', async () => {
    writeFileSync(
      join(folder, 'letter.txt'),
      'This is a letter, and long enough to be taken for a database. '.repeat(100),
    )
    await expectRefusal(at('letter.txt'), 'STORE_UNUSABLE', /not a SQLite database/, /path of the database/)
    mkdirSync(join(folder, 'folder.db'))
    await expectRefusal(at('folder.db'), 'STORE_UNUSABLE', /is not a file/, /path of the database/)
    for (const error of await refusals(at('letter.txt/inside.db')))
      expect(error).toMatchObject({ code: 'STORE_UNUSABLE', message: expect.stringMatching(/is not a file/) })
  })

  it('says that its name is longer than a file may have', async () => {
    for (const error of await refusals(at(`${'x'.repeat(300)}.db`)))
      expect(error).toMatchObject({ code: 'STORE_DENIED', hint: expect.stringMatching(/path of the database/) })
  })

  it('says that its tables were changed by hand', async () => {
    const app = everytick({ store: at('changed.db'), jobs: [] })
    await app.schedules.list()
    const database = await openDatabase(join(folder, 'changed.db'))
    database.exec('drop table everytick_schedules')
    database.close()
    const error = await app.schedules.list().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'STORE_UNUSABLE', message: expect.stringMatching(/no such table/) })
    await app.stop()
  })

  it('says that it stays locked', async () => {
    const path = join(folder, 'locked.db')
    const app = everytick({ store: `sqlite:${path}`, jobs: [work] })
    await app.schedules.list()
    const database = await openDatabase(path)
    database.exec('begin immediate')
    const error = await app.enqueue(work).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'STORE_UNREACHABLE', hint: expect.stringMatching(/another process/) })
    database.exec('rollback')
    database.close()
    await app.stop()
  })

  it.skipIf(process.getuid?.() === 0)('says that it may not be written', async () => {
    const path = join(folder, 'readonly.db')
    const app = everytick({ store: `sqlite:${path}`, jobs: [] })
    await app.schedules.list()
    await app.stop()
    chmodSync(path, 0o444)
    const other = everytick({ store: `sqlite:${path}`, jobs: [work] })
    const error = await other.enqueue(work).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'STORE_DENIED', hint: expect.stringMatching(/rights/) })
    await other.stop()
  })
})
