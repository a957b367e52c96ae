/** `everytick migrate`, `sync` and `apply`, by the built program: on both stores, and each detail in one place. */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { everytick, schedule } from '../../src/index.ts'
import { ensureBuilt } from '../built-package.ts'
import { BACKENDS, type BackendName, openSite, type Site } from './deploying.ts'

const sites = new Map<BackendName, Site>()
beforeAll(async () => {
  ensureBuilt()
  for (const backend of BACKENDS) sites.set(backend, await openSite(backend))
})
afterAll(async () => {
  for (const site of sites.values()) await site[Symbol.asyncDispose]()
})

const STORES = ['sqlite', 'postgres'] as const
const OTHERS = { every: '1h', job: 'x' }

async function storedIn({ app }: Site): Promise<string[]> {
  return (await app.schedules.list()).map(({ workspace, key }) => `${workspace}/${key}`)
}

/** Stores a schedule as code does. */
async function declare(site: Site, spec: Parameters<typeof schedule>[0], more: { name?: string; build?: number } = {}) {
  const declared = [schedule(spec)]
  await using code = everytick({ store: site.address, jobs: [], foreignJobs: true, schedules: declared, ...more })
  await code.sync()
}

const YAML = `
key: digest
workspace: t_42
cron: 0 9 * * 1-5
timezone: America/New_York
job: send-digest
timeout: 10m
tags: [mail]
payload:
  accountId: t_42
---
key: ping
every: 10m
job: ping
timeout: 1m
tags: [mail]
`

const rowsOf = (text: string): string[][] =>
  text
    .trimEnd()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t'))

describe.each(STORES)('everytick apply on %s', (backend) => {
  it('makes, changes and prunes within a tag, and with --dry-run only says so', async () => {
    const site = sites.get(backend)!
    site.write('schedules.yaml', YAML)
    await site.app.schedules.upsert({ key: 'ping', every: '1h', job: 'ping', timeout: '1m', tags: ['mail'] })
    await site.app.schedules.upsert({ key: 'left', workspace: 't_42', ...OTHERS, tags: ['mail'] })
    await site.app.schedules.upsert({ key: 'untouched', ...OTHERS, tags: ['other'] })
    await declare(site, { key: 'of-code', ...OTHERS, tags: ['mail'] })
    const before = await storedIn(site)
    const pruning = ['apply', '-f', 'schedules.yaml', '--prune', '--tag', 'mail', ...site.where]
    const [dry, unasked] = await Promise.all([site.run([...pruning, '--dry-run']), site.run(pruning)])
    expect([dry.code, rowsOf(dry.out).map(([action, name]) => [action, name])]).toEqual([
      0,
      [
        ['create', 't_42/digest'],
        ['update', 'ping'],
        ['remove', 't_42/left'],
      ],
    ])
    expect([unasked.code, unasked.err]).toEqual([2, expect.stringContaining('--yes')])
    expect(await storedIn(site)).toEqual(before)
    expect((await site.run([...pruning, '--yes'])).code).toBe(0)
    expect(await storedIn(site)).toEqual(['default/of-code', 'default/ping', 'default/untouched', 't_42/digest'])
    expect((await site.app.schedules.get('t_42', 'digest'))?.payload).toEqual({ accountId: 't_42' })
    expect((await site.app.schedules.get('default', 'ping'))?.every).toBe('10m')
  })
})

describe('everytick apply on a server', () => {
  let site: Site
  beforeAll(() => {
    site = sites.get('server')!
    site.write('schedules.yaml', YAML)
  })
  const apply = (args: readonly string[], how = {}) => site.run(['apply', ...args, ...site.where], how)
  const stored = () => storedIn(site)

  it('shows with --dry-run what would be made, and makes nothing', async () => {
    const { code, out, err } = await apply(['-f', 'schedules.yaml', '--dry-run'])
    expect([code, err]).toEqual([0, 'nothing was written\n'])
    expect(rowsOf(out)).toEqual([
      ['create', 't_42/digest', expect.stringMatching(/^0 9 \* \* 1-5 America\/New_York → send-digest {3}next fire /)],
      ['create', 'ping', expect.stringMatching(/^every 10m → ping/)],
    ])
    expect(await stored()).toEqual([])
  })

  it('makes, changes and leaves alone, from YAML, JSON and standard input', async () => {
    expect((await apply(['-f', 'schedules.yaml'])).code).toBe(0)
    expect(await stored()).toEqual(['default/ping', 't_42/digest'])
    expect((await site.app.schedules.get('t_42', 'digest'))?.payload).toEqual({ accountId: 't_42' })
    expect(await apply(['-f', 'schedules.yaml'])).toMatchObject({ code: 0, out: '', err: '2 unchanged, 0 applied\n' })
    const changed = JSON.stringify([{ key: 'ping', every: '5m', job: 'ping', timeout: '1m', tags: ['mail'] }])
    const { code, out } = await apply(['-f', '-', '--json'], { input: changed })
    expect([code, JSON.parse(out)]).toMatchObject([
      0,
      [{ action: 'update', key: 'ping', before: { every: '10m' }, after: { every: '5m' } }],
    ])
    expect((await site.app.schedules.get('default', 'ping'))?.every).toBe('5m')
  })

  it('writes nothing of a file in which one schedule is wrong, and names all that are', async () => {
    const before = await stored()
    const input = `[{"key":"good","every":"1h","job":"x"},{"key":"bad","cron":"0 25 * * *","job":"x"},{"key":"typo","crn":"* * * * *","job":"x"}]`
    const { code, err } = await apply(['-f', '-'], { input })
    expect(code).toBe(2)
    expect(err).toMatch(/standard input, schedule 2 \(bad\): .*hour "25"/)
    expect(err).toMatch(/standard input, schedule 3 \(typo\): crn is unknown/)
    expect(await stored()).toEqual(before)
  })

  it('refuses what cannot be read, with the line, and a file that is not there', async () => {
    const [broken, nowhere, empty, none] = await Promise.all([
      apply(['-f', '-'], { input: 'key: a\njob: [x\n' }),
      apply(['-f', 'nowhere.yaml']),
      apply(['-f', '-'], { input: '' }),
      apply([]),
    ])
    expect([broken.code, broken.err]).toEqual([2, expect.stringMatching(/standard input:\d+ cannot be read/)])
    expect([nowhere.code, empty.code, none.code]).toEqual([3, 2, 2])
  })

  it('prunes only within a tag, only with a yes, and never what code declares', async () => {
    await site.app.schedules.upsert({ key: 'left', ...OTHERS, tags: ['text'] })
    await site.app.schedules.upsert({ key: 'left', workspace: 't_42', ...OTHERS, tags: ['text'] })
    await declare(site, { key: 'of-code', ...OTHERS, tags: ['text'] })
    const file = { input: JSON.stringify({ key: 'new', ...OTHERS, tags: ['text'] }) }
    const pruning = ['-f', '-', '--prune', '--tag', 'text']
    const [tagless, untagged, unasked, dry] = await Promise.all([
      apply(['-f', '-', '--prune'], file),
      apply(pruning, { input: '{"key":"x","every":"1h","job":"x"}' }),
      apply(pruning, file),
      apply([...pruning, '--dry-run'], file),
    ])
    expect(tagless.code).toBe(2)
    expect([untagged.code, untagged.err]).toEqual([2, expect.stringContaining('does not have the tag text')])
    expect([unasked.code, unasked.err]).toEqual([2, expect.stringContaining('--yes')])
    expect(rowsOf(dry.out).map(([action, name]) => [action, name])).toEqual([
      ['create', 'new'],
      ['remove', 'left'],
      ['remove', 't_42/left'],
    ])
    const others = ['default/of-code', 'default/ping', 't_42/digest']
    expect(await stored()).toEqual([...others, 'default/left', 't_42/left'].sort())
    expect((await apply([...pruning, '--yes'], file)).code).toBe(0)
    expect(await stored()).toEqual([...others, 'default/new'].sort())
  })

  it('shows on a terminal signs, and data that would command it as codes', async () => {
    const spec = { key: 'a', every: '1h', job: 'x', timeout: '1m' } as const
    await site.app.schedules.upsert({ ...spec, description: '\u009b31m' })
    site.write('x.json', JSON.stringify({ ...spec, every: '2h', description: '' }))
    const { code, out } = await site.run(['apply', '-f', 'x.json', ...site.where], { terminal: true })
    expect(code).toBe(0)
    expect(out).toMatch(/^ {2}~ update {2}a {2}every 1h → 2h, description \\u\{9b\}31m → none/m)
  })

  it('says where it could look when nobody said, and that a server refuses who has no key', async () => {
    site.write('x.json', '{"key":"a","every":"1h","job":"x"}')
    const [nowhere, refused] = await Promise.all([
      site.run(['apply', '-f', 'x.json']),
      site.run(['apply', '-f', 'x.json', '--url', site.where[1]!]),
    ])
    expect([nowhere.code, refused.code]).toEqual([2, 4])
  })
})

const CONFIG = (schedules: string, more = ''): string => `
const job = (name) => name
export default { name: 'shop', foreignJobs: true, jobs: [], ${more} schedules: [${schedules}] }
`
const NIGHTLY = `{ key: 'nightly', cron: '30 2 * * *', job: 'vacuum' }`
const POLL = `{ key: 'poll', every: '10m', job: 'poll' }`

const sync = (site: Site, ...args: string[]) => site.run(['sync', '--db', site.address, ...args])

describe.each(STORES)('everytick sync on %s', (backend) => {
  it('says with --dry-run what it would do, then does it, then has nothing to do', async () => {
    const site = sites.get(backend)!
    const before = await storedIn(site)
    site.write('everytick.config.mjs', CONFIG(`${NIGHTLY}, ${POLL}`))
    const dry = await sync(site, '--dry-run')
    expect([dry.code, dry.err]).toEqual([0, '2 created; nothing was written\n'])
    expect(rowsOf(dry.out).map(([action, name]) => [action, name])).toEqual([
      ['create', 'nightly'],
      ['create', 'poll'],
    ])
    expect(await storedIn(site)).toEqual(before)
    expect(await sync(site)).toMatchObject({ code: 0, out: dry.out, err: '2 created\n' })
    expect(await storedIn(site)).toEqual([...before, 'default/nightly', 'default/poll'].sort())
    expect(await sync(site)).toMatchObject({ code: 0, out: '', err: '2 unchanged\n' })
  })
})

describe('everytick sync', () => {
  let site: Site
  beforeAll(() => {
    site = sites.get('sqlite')!
  })

  it('shows before, after and the next fires of what changes, who paused it, and when an orphan goes', async () => {
    await site.app.schedules.pause('default', 'poll', { reason: 'broken', by: 'ana' })
    site.write('everytick.config.mjs', CONFIG(`{ ...${NIGHTLY}, cron: '0 3 * * *' }, { ...${POLL}, every: '5m' }`))
    const { out } = await sync(site, '--dry-run')
    expect(rowsOf(out)).toEqual([
      [
        'update',
        'nightly',
        expect.stringMatching(/^cron 30 2 \* \* \* → 0 3 \* \* \* {3}next fire \S+T02:30:00Z → \S+T03:00:00Z$/),
      ],
      ['update', 'poll', expect.stringMatching(/^every 10m → 5m {3}\(.*ana.*: stays paused\)$/)],
    ])
    site.write('everytick.config.mjs', CONFIG(''))
    const orphans = JSON.parse((await sync(site, '--json')).out)
    expect(orphans.orphaned).toEqual(['default/nightly'])
    expect(orphans.plan).toMatchObject([
      { action: 'orphan', key: 'nightly', note: expect.stringMatching(/^paused, deleted \d{4}-\d\d-\d\d$/) },
      { action: 'keep paused', key: 'poll' },
    ])
    expect((await site.app.schedules.get('default', 'nightly'))?.paused?.by).toBe('sync')
  })

  it('leaves what a newer build stored as it is, and ends with 3', async () => {
    await declare(site, { key: 'nightly', cron: '30 2 * * *', job: 'vacuum' }, { name: 'shop', build: 2 })
    site.write('everytick.config.mjs', CONFIG(`{ ...${NIGHTLY}, cron: '0 5 * * *' }`, 'build: 1,'))
    const { code, err } = await sync(site)
    expect([code, err]).toEqual([3, expect.stringContaining('BUILD_OUTDATED')])
    expect((await site.app.schedules.get('default', 'nightly'))?.cron).toBe('30 2 * * *')
  })

  it('refuses a schedule that cannot be read, and stores nothing', async () => {
    site.write(
      'everytick.config.mjs',
      CONFIG(`{ ...${NIGHTLY}, key: 'other' }, { key: 'p', job: 'x', cron: '0 25 * * *' }`),
    )
    const { code, err } = await sync(site)
    expect([code, err]).toEqual([2, expect.stringContaining('everytick.config.mjs')])
    expect(await site.app.schedules.get('default', 'other')).toBeNull()
  })

  it('refuses a file that is not there (exit 2) and a folder without a configuration (exit 3)', async () => {
    rmSync(join(site.folder, 'everytick.config.mjs'))
    const [nowhere, none] = await Promise.all([sync(site, '--config', 'nowhere.mjs'), sync(site)])
    expect([nowhere.code, none.code]).toEqual([2, 3])
  })

  it('with --dry-run on a file that is not there refuses, names the command that creates it, and makes no file', async () => {
    site.write('everytick.config.mjs', CONFIG(POLL, `store: 'sqlite:./unmade.db',`))
    const { code, err } = await site.run(['sync', '--dry-run'])
    expect([code, err]).toEqual([
      3,
      expect.stringMatching(/^STORE_MISSING: .*\n.*everytick migrate --db sqlite:.\/unmade.db/),
    ])
    expect(existsSync(join(site.folder, 'unmade.db'))).toBe(false)
  })
})

describe.each(STORES)('everytick migrate on %s', (backend) => {
  it('says what it would apply, applies it, and then has nothing to apply', async () => {
    const site = sites.get(backend)!
    const db = backend === 'sqlite' ? 'sqlite:./new.db' : withSchema(site.address)
    const migrate = (...args: string[]) => site.run(['migrate', '--db', db, ...args])
    const dry = await migrate('--dry-run')
    expect([dry.code, dry.out]).toEqual([0, expect.stringMatching(/^would apply 1 \w+\n[\s\S]*nothing was written\n$/)])
    expect(existsSync(join(site.folder, 'new.db'))).toBe(false)
    const { applied } = JSON.parse((await migrate('--json')).out)
    expect(applied).toHaveLength(1)
    const [preview, again, sql] = await Promise.all([migrate('--dry-run'), migrate(), migrate('--sql')])
    expect(preview).toMatchObject({ code: 0, out: 'nothing to apply\n' })
    expect(again.out).toMatch(/is up to date\n$/)
    expect(sql.out).toMatch(/create table/i)
  })
})

describe('everytick migrate', () => {
  it('refuses when no database was named (exit 2), and fails when it cannot be reached (exit 1)', async () => {
    const site = sites.get('sqlite')!
    const endings = await Promise.all([
      // Here no configuration names one either.
      sites.get('server')!.run(['migrate']),
      site.run(['migrate', '--db', 'mysql://x']),
      site.run(['migrate', '--db', 'postgres://nobody@127.0.0.1:1/x']),
    ])
    expect(endings.map(({ code }) => code)).toEqual([2, 2, 1])
  })
})

function withSchema(address: string): string {
  const url = new URL(address)
  url.searchParams.set('schema', 'another')
  return url.href
}
