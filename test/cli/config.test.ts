/** Configuration files, by the built program: every form of one, what is said when one is wrong, and the commands that run on one. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { everytick as createApp, defineJob } from '../../src/index.ts'
import { coreOf } from '../../src/scheduler/core.ts'
import { createKeys } from '../../src/server/keys.ts'
import { ensureBuilt, root } from '../built-package.ts'
import { createReadyDatabase } from '../postgres/ready-database.ts'
import { everytick, PROGRAM, running } from './running.ts'

beforeAll(ensureBuilt)
const ends: (() => Promise<void> | void)[] = []
afterAll(async () => {
  for (const end of ends) await end()
})

function project(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'everytick-config-'))
  ends.push(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

const JOB = `import { defineJob } from 'everytick'
export const work = defineJob({ name: 'work', queue: 'mail', run: (ctx) => { console.log('worked on ' + (ctx.run.attempt > 0 ? 'work' : '')); return 1 } })`
const CONFIG = `import { schedule } from 'everytick'
import { work } from './jobs/work.js'
const every: string = '1s'
export default { jobs: [work], schedules: [schedule({ key: 'work', every: every as '1s', job: work })] }`
/** Where the database does not matter. */
const MEMORY = ['--db', 'sqlite::memory:']

describe('a command that was told of no database', () => {
  it('asks that of the configuration in its folder, else that of dev', async () => {
    const make = async (folder: string, name: string): Promise<void> => {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      const app = createApp({ store: `sqlite:${join(folder, name)}`, jobs: [], foreignJobs: true })
      await app.schedules.create({ key: `in-${name.replaceAll(/\W/g, '-')}`, every: '1h', job: 'work' })
      await app.stop()
    }
    const configured = project({
      'everytick.config.ts': `export default { store: 'sqlite:own.db' as string, jobs: [] }`,
    })
    const plain = project({})
    await Promise.all([
      make(configured, 'own.db'),
      make(configured, '.everytick/dev.db'),
      make(plain, '.everytick/dev.db'),
    ])
    const listed = await Promise.all(
      [configured, plain].map(async (cwd) => {
        const { ended, shown } = everytick(['schedules', 'ls'], { cwd })
        return [await ended, shown().split('\t')[0]]
      }),
    )
    expect(listed).toEqual([
      [0, 'in-own-db'],
      [0, 'in--everytick-dev-db'],
    ])
  })
})

const opened = (kind: 'an app' | 'an app on a store that it opened'): string => `
import { everytick } from 'everytick'
import { openSqlite } from 'everytick/sqlite'
const store = ${kind === 'an app' ? `'sqlite:own.db'` : `await openSqlite({ path: 'own.db' })`}
export default everytick({ store, jobs: [] })`

describe.each(['an app', 'an app on a store that it opened'] as const)('a configuration that exports %s', (kind) => {
  it('names the store to every command, migrate included, also as a file that was named', async () => {
    const cwd = project({ 'everytick.config.ts': opened(kind), 'sub/none': '' })
    const migrate = everytick(['migrate'], { cwd })
    expect([await migrate.ended, migrate.shown()]).toEqual([0, expect.stringMatching(/own\.db is up to date/)])
    const create = everytick(['schedules', 'create', 'tick', '--every', '1h', '--job', 'work'], { cwd })
    expect([await create.ended, create.shown()]).toEqual([0, expect.stringContaining('tick')])
    const list = everytick(['schedules', 'ls', '--config', 'everytick.config.ts'], { cwd })
    expect([await list.ended, list.shown()]).toEqual([0, expect.stringMatching(/^tick\t/m)])
    const preview = everytick(['migrate', '--dry-run', '--json'], { cwd })
    expect([await preview.ended, preview.shown()]).toEqual([0, expect.stringMatching(/"missing":\[\]/)])
  })
})

it('a dry run of a configuration that exports an app does not create its database', async () => {
  const cwd = project({ 'everytick.config.ts': opened('an app') })
  const sync = everytick(['sync', '--dry-run'], { cwd })
  expect([await sync.ended, sync.shown()]).toEqual([3, expect.stringContaining('STORE_MISSING')])
  expect(readdirSync(cwd)).toEqual(['everytick.config.ts'])
})

/** What TypeScript of any project may hold, and what a mere removal of types cannot bring to life. */
const ORDINARY: Readonly<Record<string, string>> = {
  'tsconfig.json': '{ // comments are allowed\n "compilerOptions": { "paths": { "@lib/*": ["./src/lib/*"] } } }',
  'everytick.config.ts': `import { defineConfig, defineJob, EverytickOptions, schedule } from 'everytick'
import { Keeper, Kind } from '@lib/kinds'
import { plain } from './plain.mjs'
import { told } from 'cjs-package'
import data from './data.json'
namespace Names {
  export const key: string = 'tick'
}
const base: string = await Promise.resolve(__dirname)
const work = defineJob({ name: Kind.Work, run() {} })
const options: Partial<EverytickOptions> = { store: 'sqlite:' + base + '/own.db', jobs: [work, plain] }
export default defineConfig({
  ...options,
  schedules: [schedule({ key: [Names.key, new Keeper('kept').get(), told(), data.said].join('-'), every: '1h', job: work })],
})`,
  'src/lib/kinds.ts': `export enum Kind { Work = 'work' }
export class Keeper { constructor(private readonly value: string) {} get(): string { return this.value } }`,
  'plain.mjs': `import { defineJob } from 'everytick'\nexport const plain = defineJob({ name: 'plain', run() {} })`,
  'data.json': '{ "said": "json" }',
  'node_modules/cjs-package/package.json': '{ "name": "cjs-package", "main": "main.js" }',
  'node_modules/cjs-package/main.js': `module.exports = Object.assign(() => {}, { told: () => 'cjs' })`,
}
const TSX = join(root, 'node_modules', 'tsx', 'dist', 'loader.mjs')

describe('a configuration in ordinary TypeScript', () => {
  it.each<[string, readonly string[]]>([
    ['by itself', []],
    ['under a loader that is active already', ['--import', TSX]],
  ])('loads with paths, enums, namespaces, parameter properties, JSON and CommonJS, %s', async (_, flags) => {
    const cwd = project(ORDINARY)
    const sync = running([process.execPath, ...flags, PROGRAM, 'sync'], { cwd })
    expect([await sync.ended, sync.shown()]).toEqual([0, expect.stringMatching(/^create\ttick-kept-cjs-json\t/m)])
    // Compiled once, and again after a change.
    writeFileSync(join(cwd, 'src/lib/kinds.ts'), ORDINARY['src/lib/kinds.ts']!.replace('this.value }', `'changed' }`))
    const again = running([process.execPath, ...flags, PROGRAM, 'sync'], { cwd })
    expect([await again.ended, again.shown()]).toEqual([0, expect.stringMatching(/^create\ttick-changed-cjs-json\t/m)])
  })

  it('may import JSX, and an error in it has the file and the line', async () => {
    const mail = `enum Kind { Mail = 'mail' }
const Mail = ({ to }: { to: string }) => <b>{to}</b>
export const name: string = Mail({ to: Kind.Mail }).props.children`
    const cwd = project({
      'everytick.config.ts': `import { defineConfig, defineJob, schedule } from 'everytick'
import { name } from './mail'
const same = <T>(value: T) => value
const work = defineJob({ name: same(<string>'work'), run() {} })
export default defineConfig({ store: 'sqlite:./own.db', jobs: [work], schedules: [schedule({ key: name, every: '1h', job: work })] })`,
      'mail.tsx': mail,
      'node_modules/react/package.json': '{ "name": "react", "exports": { "./jsx-runtime": "./jsx-runtime.js" } }',
      'node_modules/react/jsx-runtime.js': 'exports.jsx = exports.jsxs = (type, props) => ({ type, props })',
    })
    const sync = everytick(['sync'], { cwd })
    expect([await sync.ended, sync.shown()]).toEqual([0, expect.stringMatching(/^create\tmail\t/m)])
    writeFileSync(join(cwd, 'mail.tsx'), mail.replace('props.children', 'nothing.children'))
    const wrong = everytick(['sync'], { cwd })
    expect([await wrong.ended, wrong.shown()]).toEqual([1, expect.stringMatching(/CONFIG_FAILED: mail\.tsx:3:\d+: /)])
  })

  it('is loaded again by dev when any of its files changes', async () => {
    const cwd = project(ORDINARY)
    const dev = everytick(['dev', '--port', '0'], { cwd })
    await dev.heard('1 created')
    let times = 0
    for (const file of ['src/lib/kinds.ts', 'plain.mjs', 'data.json']) {
      writeFileSync(join(cwd, file), `${ORDINARY[file]}\n`)
      await dev.heard('reloaded', ++times)
    }
    dev.interrupt()
    expect(await dev.ended).toBe(0)
  })
})

describe('a configuration', () => {
  it.each<[string, Record<string, string>]>([
    ['in TypeScript, with ./x.js written for ./x.ts', { 'everytick.config.ts': CONFIG, 'jobs/work.ts': JOB }],
    [
      'in JavaScript',
      {
        'everytick.config.mjs': CONFIG.replace(': string', '').replace(" as '1s'", ''),
        'jobs/work.js': JOB,
        'package.json': '{ "type": "module" }',
      },
    ],
    [
      'in JSON, with the jobs of src/jobs.ts',
      {
        'everytick.config.json': '{ "schedules": [{ "key": "work", "every": "1s", "job": "work" }] }',
        'src/jobs.ts': JOB,
      },
    ],
    [
      'that is an app',
      {
        'everytick.config.ts': `import { everytick, schedule } from 'everytick'
        import { work } from './jobs/work'
        export const app = everytick({ store: 'sqlite::memory:', jobs: [work], schedules: [schedule({ key: 'work', every: '1s', job: work })] })`,
        'jobs/work.ts': JOB,
      },
    ],
  ])('%s is run', async (_, files) => {
    const dev = everytick(['dev', '--port', '0'], { cwd: project(files) })
    await dev.heard('worked on work')
    dev.interrupt()
    expect(await dev.ended).toBe(0)
    expect(dev.shown()).toContain('everytick.config.')
    expect(dev.shown()).toMatch(/1 in code → 1 created/)
  })

  it.each<[string, Record<string, string>, number, RegExp]>([
    [
      'a mistake in TypeScript',
      { 'everytick.config.ts': 'export default {\n  jobs: [],\n  x: : 1\n}' },
      1,
      /everytick\.config\.ts:3/,
    ],
    [
      'a mistake in a file that it imports',
      {
        'everytick.config.ts': "import { a } from './a'\nexport default { jobs: [a] }",
        'a.ts': 'export const b = 1\n\nexport const a = (',
      },
      1,
      /CONFIG_FAILED: a\.ts:3:\d+: ParseError/,
    ],
    [
      'an error below an enum and a namespace',
      {
        'everytick.config.ts':
          "enum A {\n  X,\n  Y,\n}\nnamespace N {\n  export const v = A.X\n}\nfunction deep(): never {\n  throw new Error('deep ' + N.v)\n}\ndeep()",
      },
      1,
      /everytick\.config\.ts:9(?::\d+)?: deep 0/,
    ],
    [
      'an error while it is read',
      { 'everytick.config.ts': "\nthrow new Error('no key')" },
      1,
      /everytick\.config\.ts:2.*no key/,
    ],
    [
      'a schedule that cannot be',
      {
        'everytick.config.ts':
          "import { schedule } from 'everytick'\n\nexport default { schedules: [schedule({ key: 'x', cron: '0 25 * * *', job: 'x' })] }",
      },
      2,
      /CRON_RANGE: everytick\.config\.ts:3:\d+: .*hour "25"/,
    ],
    [
      'JSON that is none',
      { 'everytick.config.json': '{\n  "jobs": [],\n}' },
      2,
      /everytick\.config\.json(:3)? is not JSON/,
    ],
    [
      'a file without an export',
      { 'everytick.config.mjs': 'export const x = 1' },
      2,
      /does not export a configuration/,
    ],
    ['a list', { 'everytick.config.mjs': 'export default []' }, 2, /the configuration must be an object, not a list/],
    [
      'an option that there is not',
      { 'everytick.config.mjs': "export default { stoer: 'sqlite::memory:', jobs: [] }" },
      2,
      /OPTION_UNKNOWN: everytick\.config\.mjs: "stoer" is not an option.*\n.*store\?/,
    ],
    [
      'an await that never ends',
      { 'everytick.config.ts': 'await new Promise(() => {})\nexport default {}' },
      1,
      /CONFIG_FAILED: everytick\.config\.ts: loading does not end: a top-level await/,
    ],
    ['a module that is not there', { 'everytick.config.mjs': "import './gone.js'\nexport default {}" }, 1, /gone\.js/],
  ])('is refused for %s, with its place', async (_, files, code, words) => {
    const worker = everytick(['worker', ...MEMORY], { cwd: project(files) })
    expect(await worker.ended).toBe(code)
    expect(worker.shown()).toMatch(words)
    expect(worker.shown()).not.toContain('INTERNAL')
  })

  it('that misspells its store is refused for that, and not for naming none', async () => {
    const cwd = project({ 'everytick.config.mjs': "export default { db: 'sqlite:./everytick.db', jobs: [] }" })
    const all = ['schedules ls', 'sync', 'worker', 'migrate'].map((text) => everytick(text.split(' '), { cwd }))
    for (const each of all) {
      expect(await each.ended).toBe(2)
      expect(each.shown()).toMatch(/OPTION_UNKNOWN: everytick\.config\.mjs: "db" is not an option/)
    }
  })

  it('that was named must be there, and an app keeps its database', async () => {
    const cwd = project({
      'app.mjs':
        "import { everytick } from 'everytick'\nexport default everytick({ store: 'sqlite::memory:', jobs: [] })",
    })
    const gone = everytick(['worker', '--config', 'gone.ts'], { cwd })
    const moved = everytick(['worker', '--config', 'app.mjs', ...MEMORY], { cwd })
    expect([await gone.ended, await moved.ended]).toEqual([2, 2])
    expect(gone.shown()).toContain('file gone.ts does not exist')
    expect(moved.shown()).toContain('exports an app')
  })
})

const STORES = {
  async sqlite(folder: string) {
    return `sqlite:${join(folder, 'everytick.db')}`
  },
  async postgres() {
    const database = await createReadyDatabase()
    ends.push(() => database.drop())
    return database.url
  },
}

describe.each(['sqlite', 'postgres'] as const)('on %s', (store) => {
  it('serve plans the schedules of a configuration, and a worker carries them out from the queues it is given', async () => {
    const cwd = project({ 'everytick.config.ts': CONFIG, 'jobs/work.ts': JOB })
    const db = await STORES[store](cwd)
    const keeper = createApp({ store: db, jobs: [] })
    await createKeys(coreOf(keeper)).create({ name: 'a', scope: 'admin', workspace: null, by: 'test', forMs: null })
    await keeper.stop()
    const env = { DATABASE_URL: db }
    const serve = everytick(['serve', '--port', '0'], { cwd, env })
    await serve.heard('Ctrl-C stops.')
    expect(serve.shown()).toContain('jobs  1 in everytick.config.ts')
    // The overview is for those who may read, and says nothing to others.
    const overview = await fetch(/api {3}(http:\S+)\/api/.exec(serve.shown())![1]!)
    expect([overview.status, await overview.text()]).toEqual([401, expect.not.stringContaining('work')])
    const worker = everytick(['worker', '--queues', 'mail, other'], { cwd, env })
    await worker.heard('worked on work', 2)
    expect(worker.shown()).toMatch(/jobs {4}work\n {2}queues {2}mail ×10, other ×10/)
    expect(serve.shown()).not.toContain('worked on')
    worker.interrupt()
    expect(await worker.ended).toBe(0)
    serve.interrupt()
    expect(await serve.ended).toBe(0)
    const app = createApp({ store: db, jobs: [defineJob({ name: 'work', run: () => {} })] })
    const report = await app.audit()
    expect({ ok: report.ok, ran: report.runs > 0 }).toEqual({ ok: true, ran: true })
    await app.stop()
  })

  it('serve works too with --role all', async () => {
    const cwd = project({ 'everytick.config.ts': CONFIG, 'jobs/work.ts': JOB })
    const db = await STORES[store](cwd)
    const serve = everytick(['serve', '--db', db, '--port', '0', '--setup', '--role', 'all'], { cwd })
    await serve.heard('worked on work')
    serve.child.kill('SIGTERM')
    expect(await serve.ended).toBe(0)
  })

  it('serve ends in good order when it is asked to while it begins to listen', async () => {
    const jobs = `import { Server } from 'node:net'
const { listen } = Server.prototype
Server.prototype.listen = function (...given) { process.kill(process.pid, 'SIGTERM'); return listen.apply(this, given) }
export { work } from './work.js'`
    const cwd = project({ 'jobs.js': jobs, 'work.ts': JOB, 'package.json': '{ "type": "module" }' })
    const db = await STORES[store](cwd)
    const serve = everytick(['serve', '--db', db, '--port', '0', '--setup', '--role', 'all'], { cwd })
    expect([await serve.ended, serve.shown()]).toEqual([0, expect.stringContaining('Ctrl-C stops')])
  })
})

it('refuses a worker without jobs, a role that there is not, and to guess a database', async () => {
  const cwd = project({})
  const without = everytick(['worker', ...MEMORY], { cwd })
  const role = everytick(['serve', ...MEMORY, '--role', 'worker'], { cwd })
  const nowhere = everytick(['serve'], { cwd })
  expect(await Promise.all([without.ended, role.ended, nowhere.ended])).toEqual([2, 2, 2])
  expect(without.shown()).toContain('no jobs to execute')
  expect(role.shown()).toContain('everytick worker')
  expect(nowhere.shown()).toContain('No database given')
})
