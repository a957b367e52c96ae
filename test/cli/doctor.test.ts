/** `everytick doctor`, by the built program, on both stores and against a server; what it makes of which facts is in src/observe/diagnosis.test.ts. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { coreOf } from '../../src/scheduler/core.ts'
import { createKeys } from '../../src/server/keys.ts'
import { openDatabase } from '../../src/store/sqlite/driver.ts'
import { ensureBuilt } from '../built-package.ts'
import { BACKENDS, type BackendName, openSite, type Site } from './deploying.ts'

interface Found {
  readonly check: string
  readonly level: string
  readonly text: string
  readonly fix: string | null
}

const sites = new Map<BackendName, Site>()
beforeAll(async () => {
  ensureBuilt()
  for (const backend of BACKENDS) sites.set(backend, await openSite(backend))
})
afterAll(async () => {
  for (const site of sites.values()) await site[Symbol.asyncDispose]()
})

describe.each(BACKENDS)('everytick doctor on %s', (backend) => {
  let site: Site
  beforeAll(() => {
    site = sites.get(backend)!
  })
  const findings = async (): Promise<{ code: number | null; healthy: boolean; of: (check: string) => Found[] }> => {
    const { code, out } = await site.run(['doctor', ...site.where, '--json'])
    const { healthy, findings: all } = JSON.parse(out) as { healthy: boolean; findings: Found[] }
    return { code, healthy, of: (check) => all.filter((each) => each.check === check) }
  }

  it('ends with 0 where nothing is wrong, and has looked at everything', async () => {
    const { code, healthy, of } = await findings()
    expect([code, healthy]).toEqual([0, true])
    for (const check of [
      'schema',
      'claim plan',
      'writes',
      'clock',
      'queues',
      'zone data',
      'spikes',
      'quarantine',
      'alerts',
    ])
      expect(of(check), check).toMatchObject([{ level: 'ok' }])
    expect(of('channels')).toMatchObject([{ level: 'warning', fix: expect.stringContaining('everytick channels add') }])
    // Without a server no alert opens.
    expect(of('watch')).toMatchObject([{ level: backend === 'server' ? 'ok' : 'warning' }])
    expect(of('schema')[0]!.text).toMatch(/schema (\d+)\/\1$/)
    expect(of('snapshots')).toHaveLength(backend === 'postgres' ? 1 : 0)
  })

  it('ends with 5 when runs wait for nobody, nobody plans, and a schedule was set aside', async () => {
    const store = await coreOf(site.app).store()
    await site.app.schedules.upsert({ key: 'x', workspace: 'shop', every: '1h', job: 'plain' })
    const [schedule] = (await store.schedules.find({}, { limit: 1 })).schedules
    await store.planning.quarantine(
      { ...schedule!, nextAt: schedule!.nextAt! },
      { code: 'CRON_INVALID', message: 'no' },
    )
    await site.app.schedules.upsert({ key: 'y', every: '1h', job: 'plain', queue: 'reports' })
    await site.app.schedules.trigger('default', 'y')
    const { code, healthy, of } = await findings()
    expect([code, healthy]).toEqual([5, false])
    expect(of('queues')).toMatchObject([
      { level: 'wrong', text: 'queue "reports": 1 ready, no worker', fix: 'everytick worker --queues reports' },
    ])
    expect(of('planner')).toMatchObject([{ level: 'wrong', fix: expect.stringContaining('everytick serve') }])
    expect(of('quarantine')).toMatchObject([{ level: 'wrong', text: expect.stringContaining('shop/x') }])
  })
})

describe('everytick doctor', () => {
  it('says unhealthy with the reason while the database is away, in one row and without a stack', async () => {
    const site = sites.get('server')!
    const where = ['--db', 'postgres://nobody@127.0.0.1:1/none']
    const [rows, json] = await Promise.all([site.run(['doctor', ...where]), site.run(['doctor', ...where, '--json'])])
    expect([rows.code, json.code]).toEqual([5, 5])
    expect(rows.out).toMatch(/^wrong\tstore\t.*does not listen.*ECONNREFUSED.*\t.*host and port.*\n$/)
    expect(rows.err).toMatch(/^CHECK_FAILED: 1 check failed/)
    expect(rows.out + rows.err).not.toMatch(/\n\s+at /)
    const { healthy, findings } = JSON.parse(json.out) as { healthy: boolean; findings: Found[] }
    expect([healthy, findings.map(({ check, level }) => `${check} ${level}`)]).toEqual([false, ['store wrong']])
  })

  it('prints rows into a pipe and signs on a terminal, and what is wrong to standard error', async () => {
    const site = sites.get('server')!
    const [piped, shown] = await Promise.all([
      site.run(['doctor', ...site.where]),
      site.run(['doctor', ...site.where], { terminal: true }),
    ])
    expect(piped.out).toContain(
      'wrong\tqueues\tqueue "reports": 1 ready, no worker\teverytick worker --queues reports\n',
    )
    expect(piped.err).toMatch(/^CHECK_FAILED: 3 checks failed/)
    expect(shown.code).toBe(5)
    expect(shown.out).toMatch(/ {2}✓ .*schema/)
    expect(shown.out).toMatch(/ {2}✗ queue "reports": 1 ready, no worker\n {6}→ everytick worker --queues reports/)
  })

  it('looks at a file that is not there without making it (exit 3)', async () => {
    const site = sites.get('sqlite')!
    expect((await site.run(['doctor', '--db', 'sqlite:./nowhere.db'])).code).toBe(3)
    expect(existsSync(join(site.folder, 'nowhere.db'))).toBe(false)
  })

  it('leaves a schema of a newer version as it is, and says to update', async () => {
    const site = sites.get('sqlite')!
    await site.run(['migrate', '--db', 'sqlite:./newer.db'])
    const database = await openDatabase(join(site.folder, 'newer.db'))
    database.exec("insert into everytick_migrations values (999, 'later', 0)")
    const { code, out } = await site.run(['doctor', '--db', 'sqlite:./newer.db'])
    expect([code, out]).toEqual([5, expect.stringMatching(/^wrong\tschema\t.*version 999.*\tupdate everytick/)])
    expect(database.prepare('select max(version) as version from everytick_migrations').all()).toEqual([
      { version: 999 },
    ])
    database.close()
  })

  it('is refused to those who are bound to one workspace or may only read (exit 4)', async () => {
    const site = sites.get('server')!
    const url = site.where[1]!
    const keys = createKeys(coreOf(site.app))
    const bound = await keys.create({ name: 'a', scope: 'admin', workspace: 'a', by: 'test', forMs: null })
    const reader = await keys.create({ name: 'b', scope: 'read', workspace: null, by: 'test', forMs: null })
    const endings = await Promise.all([
      site.run(['doctor', '--url', url, '--token', bound.token]),
      site.run(['doctor', '--url', url, '--token', reader.token]),
      site.run(['doctor', '--url', 'http://127.0.0.1:1']),
    ])
    expect(endings.map(({ code }) => code)).toEqual([4, 4, 1])
  })

  it('sees who plans', async () => {
    await using site = await openSite('sqlite')
    await site.app.start({ role: 'scheduler' })
    await expect
      .poll(async () => (await coreOf(site.app).store()).locks.list(), { timeout: 10_000 })
      .toContainEqual(expect.objectContaining({ name: 'planner' }))
    const { code, out } = await site.run(['doctor', ...site.where])
    expect(code).toBe(0)
    expect(out).toMatch(/^ok\tplanner\t1 scheduler alive, led by /m)
  })
})
