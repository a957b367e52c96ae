/** Walks all commands in a folder whose configuration leaves a mark when it is executed: with `--no-config` none does, and without it exactly those of the table in the reference. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Ending, ensureBuilt, readText } from '../built-package.ts'
import { announce, randomFrom, SEED } from '../time/seed.ts'
import { CALLS, eachOf, everyCommand, INPUTS, type KnownCommand } from './every-command.ts'
import { PROGRAM } from './running.ts'

const TITLE = 'Which commands execute the configuration'
const MARK = (name: string): string => `import { appendFileSync } from 'node:fs'
appendFileSync(process.env.MARK!, '${name}\\n')
`
const CONFIG = `${MARK('configuration')}export default { store: 'sqlite:./x.db' }\n`
const JOBS = `${MARK('jobs')}export default []\n`
const MARK_TIME_MS = 600_000

let folder = ''
let commands: readonly KnownCommand[] = []
beforeAll(async () => {
  announce('--no-config')
  ensureBuilt()
  folder = mkdtempSync(join(tmpdir(), 'everytick-no-config-'))
  for (const [name, text] of Object.entries(INPUTS)) writeFileSync(join(folder, name), text)
  commands = await everyCommand()
  expect(await run(['migrate', '--db', `sqlite:${join(folder, 'x.db')}`])).toMatchObject({ code: 0 })
  writeFileSync(join(folder, 'everytick.config.ts'), CONFIG)
  writeFileSync(join(folder, 'jobs.ts'), JOBS)
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const { DATABASE_URL: _db, EVERYTICK_URL: _url, EVERYTICK_TOKEN: _token, ...around } = process.env
let runs = 0

interface Marked extends Ending {
  /** Which files of the folder were executed. */
  readonly executed: boolean
}

function run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Marked> {
  const mark = join(folder, `mark-${++runs}`)
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: folder,
    env: { ...around, NO_COLOR: '1', XDG_CACHE_HOME: folder, MARK: mark, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  return new Promise((resolve) =>
    child.once('close', (code) => resolve({ code, out, err, executed: existsSync(mark) })),
  )
}

/** A third of the commands, another one in each run of the tests: a sweep with `--db` starts more than fifty processes. */
function thirdOf(all: readonly KnownCommand[], besides: readonly string[] = []): readonly KnownCommand[] {
  const random = randomFrom(SEED)
  return all.filter(({ path }) => random() < 1 / 3 || besides.includes(path))
}

const callOf = ({ path }: KnownCommand): string[] => [...path.split(' '), ...(CALLS[path] ?? [])]

type Rule = 'always' | 'unless named' | 'never'
const RULES: Readonly<Record<string, Rule>> = {
  always: 'always',
  'unless `--url` or `--db` (or their variables) says where': 'unless named',
  never: 'never',
}

/** What the table of the reference says of each command. */
function documented(): Map<string, Rule> {
  const text =
    readText('docs/reference/cli.md')
      .split(/^###? /m)
      .find((part) => part.startsWith(TITLE)) ?? ''
  const rows = text.split('\n').flatMap((line) => {
    const [, names, rule] = /^\| (`.*`) \| (.*?) \|/.exec(line) ?? []
    return names === undefined || !Object.hasOwn(RULES, rule!) ? [] : [[names, RULES[rule!]!] as const]
  })
  return new Map(
    rows.flatMap(([names, rule]) => [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => [name!, rule] as const)),
  )
}

describe('the table of what executes the configuration', () => {
  it('names every command, and no other; and this test has a call of each', () => {
    const known = commands.map(({ path }) => path).toSorted()
    expect([...documented().keys()].toSorted()).toEqual(known)
    expect(Object.keys(CALLS).toSorted()).toEqual(known)
  })

  it(
    'is what the commands do',
    async () => {
      const rules = documented()
      const withDatabase = thirdOf(commands.filter(({ flags }) => flags.includes('--db')))
      const bare = await eachOf(commands, async (command) => {
        const { executed } = await run(callOf(command))
        return [command.path, executed] as const
      })
      const expected = commands.map(({ path }) => [path, rules.get(path) !== 'never'] as const)
      expect(Object.fromEntries(bare)).toEqual(Object.fromEntries(expected))
      const named = await eachOf(withDatabase, async (command) => {
        const { executed } = await run([...callOf(command), '--db', 'sqlite:./x.db'])
        return [command.path, executed] as const
      })
      const always = withDatabase.map(({ path }) => [path, rules.get(path) === 'always'] as const)
      expect(Object.fromEntries(named)).toEqual(Object.fromEntries(always))
    },
    MARK_TIME_MS,
  )
})

describe('--no-config', () => {
  const REFUSED = ['sync', 'worker']
  const WORKING = ['runs ls', 'schedules ls', 'cleanup', 'export crontab', 'migrate', 'queues ls']

  it(
    'keeps every command from executing the configuration, and those that need one say what to pass',
    async () => {
      const ends = await eachOf(commands, async (command) => {
        const end = await run([
          ...callOf(command),
          '--no-config',
          ...(command.flags.includes('--json') ? ['--json'] : []),
        ])
        return { path: command.path, ...end }
      })
      expect(ends.filter(({ executed }) => executed)).toEqual([])
      for (const { path, err, code } of ends) {
        const rule = documented().get(path)
        if (rule === 'never' || path === 'dev' || path === 'import crontab') continue
        expect([path, code, err]).toEqual([path, 2, expect.stringMatching(/CONFIG_EXCLUDED/)])
        expect(err, path).toMatch(/--db|--url/)
      }
      expect(ends.find(({ path }) => path === 'dev')).toMatchObject({ code: 0 })
    },
    MARK_TIME_MS,
  )

  it(
    'leaves every command its work on a database that is named',
    async () => {
      const withDatabase = thirdOf(
        commands.filter(({ flags }) => flags.includes('--db')),
        [...REFUSED, ...WORKING],
      )
      const ends = await eachOf(withDatabase, async (command) => {
        const end = await run(['--no-config', ...callOf(command), '--db', 'sqlite:./x.db'])
        return { path: command.path, ...end }
      })
      expect(ends.filter(({ executed }) => executed)).toEqual([])
      const excluded = ends.filter(({ err }) => err.includes('CONFIG_EXCLUDED')).map(({ path }) => path)
      expect(excluded.toSorted()).toEqual(REFUSED)
      for (const path of WORKING) expect(ends.find((end) => end.path === path)).toMatchObject({ code: 0 })
    },
    MARK_TIME_MS,
  )

  it('reads no configuration either, also one that is JSON, nor the database of the folder', async () => {
    const place = mkdtempSync(join(tmpdir(), 'everytick-json-'))
    try {
      const broken = join(place, 'everytick.config.json')
      writeFileSync(broken, '{ "store": ')
      const where = (args: readonly string[]): Promise<Marked> => runIn(place, args)
      expect((await where(['runs', 'ls'])).err).toContain('is not JSON')
      expect((await where(['runs', 'ls', '--no-config'])).err).toContain('CONFIG_EXCLUDED')
      rmSync(broken)
      await where(['migrate', '--db', 'sqlite:./y.db'])
      writeFileSync(broken, '{ "store": "sqlite:./y.db" }')
      expect(await where(['runs', 'ls'])).toMatchObject({ code: 0 })
      expect((await where(['runs', 'ls', '--no-config'])).err).toContain('CONFIG_EXCLUDED')
    } finally {
      rmSync(place, { recursive: true, force: true })
    }
  })

  it.each([
    ['before the command', ['--no-config', 'runs', 'ls', '--config', 'everytick.config.ts']],
    ['behind it', ['runs', 'ls', '--config', 'everytick.config.ts', '--no-config']],
    ['with a database', ['runs', 'ls', '--db', 'sqlite:./x.db', '--config', 'everytick.config.ts', '--no-config']],
    ['of dev', ['dev', '--seconds', '1', '--port', '0', '--config', 'everytick.config.ts', '--no-config']],
  ])('%s contradicts --config', async (_, args) => {
    expect(await run(args)).toMatchObject({
      code: 2,
      executed: false,
      err: expect.stringContaining('--config and --no-config exclude each other'),
    })
  })

  it('is an argument like any other behind --', async () => {
    expect((await run(['runs', 'get', '--', '--no-config'])).executed).toBe(true)
  })
})

async function runIn(place: string, args: readonly string[]): Promise<Marked> {
  const before = folder
  folder = place
  try {
    return await run(args)
  } finally {
    folder = before
  }
}
