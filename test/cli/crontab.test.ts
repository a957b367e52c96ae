/** `everytick import crontab` and `export crontab`, by the built program: on both stores and a server, and each detail in one place. */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt } from '../built-package.ts'
import { BACKENDS, type BackendName, openSite, type Site } from './deploying.ts'

const sites = new Map<BackendName, Site>()
beforeAll(async () => {
  ensureBuilt()
  for (const backend of BACKENDS) sites.set(backend, await openSite(backend))
}, 120_000)
afterAll(async () => {
  for (const site of sites.values()) await site[Symbol.asyncDispose]()
})

const CRONTAB = `
SHELL=/bin/bash
CRON_TZ=Europe/Berlin
# Every night, to tape
30 2 * * * /usr/local/bin/backup.sh --password=marker-of-a-secret
CRON_TZ=UTC
*/5 * * * 1-5 mail -s report%hello
`
const UNSUPPORTED = `${CRONTAB}@reboot start\n0 25 * * * late\n`

const rowsOf = (text: string): string[][] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t'))
const storedIn = async ({ app }: Site): Promise<string[]> => (await app.schedules.list()).map(({ key }) => key)

describe.each(BACKENDS)('a crontab on %s', (backend) => {
  it('is shown, imported, the same when imported again, and exported', async () => {
    const site = sites.get(backend)!
    site.write('my.cron', CRONTAB)
    const importing = ['import', 'crontab', 'my.cron', ...site.where]
    const dry = await site.run([...importing, '--dry-run'])
    expect([dry.code, rowsOf(dry.out).map(([action, key]) => [action, key])]).toEqual([
      0,
      [
        ['create', 'backup'],
        ['create', 'mail'],
      ],
    ])
    expect(dry.err).toContain('jobs.ts would be created, nothing was written\n')
    expect([await storedIn(site), existsSync(join(site.folder, 'jobs.ts'))]).toEqual([[], false])

    expect(await site.run(importing)).toMatchObject({
      code: 0,
      err: expect.stringContaining('wrote jobs.ts, 2 applied\n'),
    })
    const stored = await site.app.schedules.get('default', 'backup')
    expect(stored).toMatchObject({
      ...{ cron: '30 2 * * *', timezone: 'Europe/Berlin', job: 'backup', description: 'Every night, to tape' },
      ...{ overlap: 'allow', catchUp: 'none', tags: ['crontab'], retry: { attempts: 1 }, timeout: 'none' },
    })
    expect(JSON.stringify(await site.app.schedules.list())).not.toContain('marker-of-a-secret')
    expect(readFileSync(join(site.folder, 'jobs.ts'), 'utf8')).toContain(
      `    shell: '/bin/bash',\n    file: 'mail -s report',\n    stdin: 'hello\\n',\n`,
    )

    const again = await site.run(importing)
    expect(again).toMatchObject({ code: 0, out: '' })
    expect(again.err).toContain('jobs.ts is up to date, 2 unchanged, 0 applied\n')

    const exported = await site.run(['export', 'crontab', ...site.where])
    expect([exported.code, exported.err]).toEqual([0, '2 lines\n'])
    expect(exported.out).toContain(
      `CRON_TZ=Europe/Berlin\nSHELL=/bin/bash\n# everytick {"key":"backup"}\n# Every night, to tape\n${CRONTAB.split('\n')[4]}\n`,
    )
    // Whoever has no code knows the jobs by their names only.
    site.write('none.json', '{ "jobs": [] }')
    const elsewhere = await site.run(['export', 'crontab', '--config', 'none.json', ...site.where])
    expect(elsewhere.out).toContain('\n30 2 * * * everytick trigger backup\n')
  })

  it('is imported as a whole or not at all', async () => {
    const site = sites.get(backend)!
    const before = await storedIn(site)
    const importing = ['import', 'crontab', '-', '--key-prefix', 'new-', '--out', 'new.ts', ...site.where]
    const refused = await site.run(importing, { input: UNSUPPORTED })
    expect([refused.code, refused.out]).toEqual([5, ''])
    expect(refused.err).toMatch(/✗ line 8: @reboot is not supported[\s\S]*✗ line 9: hour "25" is outside 0–23/)
    expect(refused.err).toContain('CHECK_FAILED: 2 of 4 lines cannot be imported; nothing was written\n')
    expect([await storedIn(site), existsSync(join(site.folder, 'new.ts'))]).toEqual([before, false])
    const skipping = await site.run([...importing, '--skip-unsupported'], { input: UNSUPPORTED })
    expect([skipping.code, rowsOf(skipping.out).map(([, key]) => key)]).toEqual([0, ['new-backup', 'new-mail']])
  })
})

describe('everytick import crontab', () => {
  let site: Site
  beforeAll(() => {
    site = sites.get('sqlite')!
  })
  const from = (input: string, ...args: string[]) =>
    site.run(['import', 'crontab', '-', '--tz', 'UTC', ...args, ...site.where], { input })

  it('leaves a file of jobs alone that says something else, unless it is told to replace it', async () => {
    site.write('stored-result.ts', '// mine\n')
    const before = await storedIn(site)
    const kept = await from('@daily fresh\n', '--out', 'stored-result.ts')
    expect([kept.code, kept.err]).toEqual([
      3,
      expect.stringMatching(/stored-result.ts exists with different content[\s\S]*--force/),
    ])
    expect([await storedIn(site), readFileSync(join(site.folder, 'stored-result.ts'), 'utf8')]).toEqual([
      before,
      '// mine\n',
    ])
    expect((await from('@daily fresh\n', '--out', 'stored-result.ts', '--force')).code).toBe(0)
    expect(readFileSync(join(site.folder, 'stored-result.ts'), 'utf8')).toContain(`file: 'fresh'`)
  })

  it('changes the time of a line, and removes lines that are gone when that is asked for', async () => {
    const tagged = ['--tag', 'mine', '--out', 'tagged.ts', '--force']
    await from('0 1 * * * one\n0 2 * * * two\n', ...tagged)
    const unasked = await from('0 3 * * * one\n', ...tagged, '--prune')
    expect([unasked.code, unasked.err]).toEqual([2, expect.stringContaining('--yes')])
    const { code, out } = await from('0 3 * * * one\n', ...tagged, '--prune', '--yes')
    expect([code, rowsOf(out).map(([action, key]) => [action, key])]).toEqual([
      0,
      [
        ['update', 'one'],
        ['remove', 'two'],
      ],
    ])
  })

  it('gives the command to a job that is named', async () => {
    rmSync(join(site.folder, 'jobs.ts'), { force: true })
    const { code } = await from('A=1\n@daily given %in\n', '--job', 'shell', '--workspace', 't', '--catch-up', 'latest')
    expect(code).toBe(0)
    expect(await site.app.schedules.get('t', 'given')).toMatchObject({
      ...{ job: 'shell', catchUp: 'latest', payload: { command: 'given ', stdin: 'in\n', env: { A: '1' } } },
    })
    expect(existsSync(join(site.folder, 'jobs.ts'))).toBe(false)
  })

  it('takes lines of one user only', async () => {
    const system = '@daily root one-of-root\n@daily www-data other\n'
    const several = await from(system, '--dry-run')
    expect([several.code, several.err]).toEqual([2, expect.stringMatching(/several users: root, www-data/)])
    const { code, out } = await from(system, '--user', 'root', '--out', '-', '--dry-run')
    expect([code, out]).toEqual([0, expect.stringMatching(/\/\/ Cron ran it as root\.\n[\s\S]*file: 'one-of-root'/)])
    expect((await from(system, '--user', 'ana')).code).toBe(2)
    expect((await from('@daily a\n', '--user', 'ana')).code).toBe(2)
  })

  it('tells programs what it did and what it could not', async () => {
    const { code, out } = await from('MAILTO=me\n@daily json-one\n@reboot no\n', '--out', 'json.ts', '--json')
    expect([code, JSON.parse(out)]).toEqual([
      5,
      {
        ...{ changes: [], jobs: ['json-one'], jobsFile: null },
        unsupported: [{ line: 3, code: 'CRON_MACRO', reason: expect.stringMatching(/reboot/) }],
        notes: [{ line: 1, text: expect.stringMatching(/^MAILTO/) }],
      },
    ])
  })

  it.each([
    ['a file that is not there', ['nowhere.cron'], '', 3],
    ['no entry', ['-'], '# nothing\nA=1\n', 2],
    ['a zone that is none', ['-', '--tz', 'Mars'], '@daily a\n', 2],
    ['a policy that is none', ['-', '--overlap', 'maybe'], '@daily a\n', 2],
    ['JSON and jobs on one output', ['-', '--out', '-', '--json'], '@daily a\n', 2],
  ])('refuses %s', async (_, args, input, exit) => {
    const { code, out } = await site.run(['import', 'crontab', ...site.where, ...args], { input })
    expect([code, out]).toEqual([exit, ''])
  })
})

describe('everytick export crontab', () => {
  it('says what no crontab can, on standard error and in the file, which it does not replace', async () => {
    const site = sites.get('sqlite')!
    await site.app.schedules.upsert({ key: 'odd', workspace: 'out', every: '7m', job: 'x' })
    await site.app.schedules.upsert({ key: 'even', workspace: 'out', every: '5m', job: 'x' })
    const exporting = ['export', 'crontab', '--workspace', 'out', '--out', 'out.cron', ...site.where]
    const { code, out, err } = await site.run(exporting)
    expect([code, out, err]).toEqual([
      0,
      '',
      expect.stringMatching(/✗ odd: an interval of 7m[\s\S]*1 line, 1 left out\n$/),
    ])
    const text = readFileSync(join(site.folder, 'out.cron'), 'utf8')
    expect(text).toContain('\n*/5 * * * * everytick trigger out/even\n')
    expect(text).toContain('\n# Not exported: odd: an interval of 7m')
    expect((await site.run(exporting)).code).toBe(0)
    site.write('out.cron', 'mine')
    expect((await site.run(exporting)).code).toBe(3)
    expect((await site.run([...exporting, '--force'])).code).toBe(0)
    const { out: json } = await site.run(['export', 'crontab', '--workspace', 'out', ...site.where, '--json'])
    expect(JSON.parse(json)).toMatchObject({ crontab: text, left: [{ key: 'odd' }], lost: [] })
  })
})
