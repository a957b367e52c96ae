/** The promises of the command line, held against the built program itself; what a terminal shows is asked of the commands. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { explain } from '../src/cli/commands/explain.ts'
import { next } from '../src/cli/commands/next.ts'
import { distanceText } from '../src/cli/instant-text.ts'
import { coloursFor } from '../src/cli/print.ts'
import { problemOf, problemText } from '../src/cli/problem.ts'

const PROGRAM = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const ROOT = fileURLToPath(new URL('..', import.meta.url))

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs the program to its end, its output in pipes; `leave` closes our end of standard output before anything is written. */
function everytick(args: readonly string[], { leave = false } = {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    // FORCE_COLOR must not bring colours into a pipe.
    const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: ROOT, env: { ...process.env, FORCE_COLOR: '1' } })
    let [out, err] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
    if (leave) child.stdout.destroy()
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, out, err }))
  })
}

const ESCAPE = '\u001b'
const terminal = { terminal: true, colours: coloursFor(false) }

describe.concurrent('the program', () => {
  it('prints with --json one array of UTC instants and nothing else', async () => {
    const args = [
      'next',
      '30 2 * * *',
      '--tz',
      'America/New_York',
      '--from',
      '2026-03-07T12:00:00Z',
      '-n',
      '2',
      '--json',
    ]
    const instants = '["2026-03-08T07:00:00Z","2026-03-09T06:30:00Z"]\n'
    expect(await everytick(args)).toEqual({ code: 0, out: instants, err: '' })
  })

  it('prints tab-separated rows without heading or colours into a pipe, five unless told', async () => {
    const { code, out, err } = await everytick([
      'next',
      '0 9 * * 1-5',
      '--tz',
      'europe/berlin',
      '--from',
      '2026-11-15T20:00:00+01:00',
    ])
    const rows = out.split('\n')
    expect({ code, err, count: rows.length }).toEqual({ code: 0, err: '', count: 6 })
    expect(rows[0]).toBe('Mon 2026-11-16 09:00 +01:00\t2026-11-16T08:00:00Z\t13h')
    expect(out).not.toContain(ESCAPE)
  })

  it('obeys --gap and --fold', async () => {
    const args = [
      'next',
      '30 1,2 * * *',
      '--tz',
      'America/New_York',
      '--json',
      '-n',
      '3',
      '--gap',
      'skip',
      '--fold',
      'both',
    ]
    const [gap, fold] = await Promise.all([
      everytick([...args, '--from', '2026-03-08T05:00:00Z']),
      everytick([...args, '--from', '2026-11-01T04:00:00Z']),
    ])
    expect(JSON.parse(gap.out)).toEqual(['2026-03-08T06:30:00Z', '2026-03-09T05:30:00Z', '2026-03-09T06:30:00Z'])
    expect(JSON.parse(fold.out)).toEqual(['2026-11-01T05:30:00Z', '2026-11-01T06:30:00Z', '2026-11-01T07:30:00Z'])
  })

  it('shows the refused expression with carets under the spot, on standard error, and exits with 2', async () => {
    const err = 'CRON_RANGE: hour "25" is outside 0–23\n  0 25 * * *\n    ^^   did you mean 0 1 * * *?\n'
    expect(await everytick(['next', '0 25 * * *'])).toEqual({ code: 2, out: '', err })
  })

  it('prints an error as one JSON object when --json is given', async () => {
    const { code, out, err } = await everytick(['explain', '0 25 * * *', '--json'])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    const message = 'hour "25" is outside 0–23'
    expect(JSON.parse(err)).toEqual({ code: 'CRON_RANGE', message, hint: 'did you mean 0 1 * * *?', span: [2, 4] })
  })

  it.each([
    [['nxt'], 'USAGE', 'Did you mean next?'],
    [['next', '* * * * *', '--tzz', 'UTC'], 'OPTION_UNKNOWN', 'Did you mean --tz?'],
    [['next', '* * * * *', '--tz', 'EST'], 'TIMEZONE_UNKNOWN', 'America/New_York'],
    [['next', '* * * * *', '-n', '1001'], 'OPTION_INVALID', '1 to 1000'],
    [['next', '* * * * *', '--from', 'yesterday'], 'INSTANT_INVALID', '2027-01-04T09:00:00Z'],
    [['explain', '* * * * *', '--gap', 'jump'], 'OPTION_INVALID', 'shift, skip'],
    [['next', '0 0 30 2 *'], 'CRON_NEVER', 'no such date comes'],
    [['explain', '0 0 9 1 1 * 2020'], 'CRON_NEVER', '2020-01-01T09:00:00.000Z'],
    [['next', '@reboot'], 'CRON_MACRO', 'call the function when your program starts'],
    [['next', '@Daily'], 'CRON_MACRO', 'did you mean @daily?'],
    [['next'], 'CRON_EMPTY', '30 2 * * *'],
    [['next', '*/5', 'LICENSE.md', 'package.json', 'src', 'test'], 'CRON_', 'in quotes'],
  ])('refuses %j with a code, an idea and exit 2', async (args, start, idea) => {
    const { code, out, err } = await everytick(args)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err.startsWith(start)).toBe(true)
    expect(err).toContain(idea)
  })

  it.each([
    [['runs', 'rm'], "missing required argument 'ids'", 'everytick runs rm --help'],
    [['runs', 'retry', 'x', '--url', 'http://127.0.0.1:1', '--wat'], '--wat', 'everytick runs retry --help'],
    [['--db', 'x'], '--db', 'everytick --help'],
    [
      ['backfill', '--db', 'sqlite:./none.db', 'watch'],
      "missing required argument 'id'",
      'everytick backfill watch --help',
    ],
    [['keys', 'gone'], "unknown command 'gone'", 'everytick keys --help'],
    [['runs'], 'Its commands: ls, get, logs, retry, cancel, rm', 'everytick runs --help'],
  ])('points from the mistake in %j to the help of the command that was called', async (args, what, help) => {
    const [told, json] = await Promise.all([everytick(args), everytick([...args, '--json'])])
    expect(told.code).toBe(2)
    expect(told.err).toContain(what)
    expect(told.err.trimEnd().split('\n').at(-1)).toBe(`  Help: ${help}`)
    expect(JSON.parse(json.err)).toMatchObject({ help })
  })

  it('takes an expression that lost its quotes', async () => {
    const words = ['30', '2', '*', '*', 'MON', '--from', '2027-01-01T00:00:00Z', '-n', '1', '--json']
    expect((await everytick(['next', ...words])).out).toBe('["2027-01-04T02:30:00Z"]\n')
  })

  it('keeps quiet when the reader leaves early', async () => {
    const { code, err } = await everytick(['next', '* * * * *', '-n', '1000'], { leave: true })
    expect({ code, err }).toEqual({ code: 0, err: '' })
  })

  it('never lets control characters of its arguments reach the terminal', async () => {
    const hostile = `0 9\u0085 * * \u202e${ESCAPE}]0;owned\u0007`
    const calls = [['next', hostile], ['next', hostile, '--json'], ['next', '* * * * *', '--tz', hostile], [hostile]]
    for (const { code, err } of await Promise.all(calls.map((args) => everytick(args)))) {
      expect(code).toBe(2)
      expect(err.replaceAll('\n', '')).not.toMatch(/\p{C}/u)
    }
  })

  it('tells its version and that of its zone data, and helps when asked or when called bare', async () => {
    const calls = [['--version'], ['--help'], [], ['help', 'next']].map((args) => everytick(args))
    const [version, help, bare, helpNext] = await Promise.all(calls)
    expect(version?.out).toMatch(/^everytick \d+\.\d+\.\d+ \(tzdata 20\d\d[a-z]+\)\n$/)
    expect(help?.out).toContain('everytick next "*/5 * * * *"')
    expect(bare).toEqual(help)
    expect(helpNext?.out).toContain('--from <instant>')
    expect([version, help, helpNext].map((ended) => ended?.code)).toEqual([0, 0, 0])
  })

  it('migrates a database, and prints the SQL for one without opening it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'everytick-cli-'))
    const db = `sqlite:${join(folder, 'a.db')}`
    const [done, lite, postgres] = await Promise.all([
      everytick(['migrate', '--db', db]),
      everytick(['migrate', '--db', db, '--sql']),
      everytick(['migrate', '--db', 'postgres://nobody@127.0.0.1:1/none?schema=mine', '--sql']),
    ])
    rmSync(folder, { recursive: true })
    expect(done).toMatchObject({ code: 0, out: expect.stringContaining('is up to date') })
    expect(lite).toMatchObject({ code: 0, out: expect.stringContaining('create table everytick_runs') })
    expect(postgres).toMatchObject({ code: 0, out: expect.stringContaining('create table "mine".runs') })
  })

  it('tells a database that is away (exit 1) from an address that is wrong (exit 2)', async () => {
    const [away, wrong, none] = await Promise.all([
      everytick(['migrate', '--db', 'postgres://nobody@127.0.0.1:1/none']),
      everytick(['migrate', '--db', 'mysql://x']),
      everytick(['migrate']),
    ])
    expect(away).toMatchObject({ code: 1, err: expect.stringContaining('STORE_UNREACHABLE') })
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('STORE_URL_INVALID') })
    expect(none).toMatchObject({ code: 2, err: expect.stringContaining('--db') })
  })
})

describe('on a terminal', () => {
  it('next is a table of the wall time, the instant and the distance', () => {
    const options = { tz: 'America/New_York', from: '2026-11-15T19:20:00Z', count: '2' }
    expect(next(['0 9 * * 1-5'], options, terminal)).toBe(
      [
        '  NOMINAL (America/New_York)   UTC                   IN',
        '  Mon 2026-11-16 09:00 -05:00  2026-11-16T14:00:00Z  18h 40m',
        '  Tue 2026-11-17 09:00 -05:00  2026-11-17T14:00:00Z  1d 18h',
        '',
      ].join('\n'),
    )
  })

  it('all rows show seconds when one of them has some', () => {
    const text = next(['*/30 * * * * *'], { from: '2026-11-15T19:20:00Z', count: '2' }, terminal)
    expect(text).toContain('19:20:30 +00:00')
    expect(text).toContain('19:21:00 +00:00')
  })

  it('explain gives the sentence, the fields, the fires and one line per warning', () => {
    const options = { tz: 'Europe/Berlin', from: '2026-11-15T20:00:00Z' }
    expect(explain(['30 2 * * *'], options, terminal)).toBe(
      [
        '  Every day at 02:30 Europe/Berlin.',
        '  minute 30 · hour 2 · day * · month * · weekday *          365 fires in 12 months',
        '  ⚠ 2027-03-28  02:30 does not exist → 03:00+02:00 (dst.gap=shift)',
        '  ⚠ 2027-10-31  02:30 occurs twice → 02:30+02:00, first only (dst.fold=first)',
        '',
      ].join('\n'),
    )
  })

  it('explain names the second only where one was written, and what H became', () => {
    const lines = explain(['15 0 H * * *'], { seed: 'shop/digest' }, terminal)
    expect(lines).toMatch(/ {2}second 15 · minute 0 · hour H \(\d+\) · day \*/)
  })

  it('explain answers programs with the same facts', () => {
    const facts = JSON.parse(explain(['0 12 1 * 5'], { json: true, from: '2026-11-15T00:00:00Z' }, terminal))
    expect(facts.fields.weekday).toEqual({ text: '5', values: [5] })
    expect(facts).toMatchObject({ expression: '0 12 1 * 5', timezone: 'UTC', firesPerYear: 62 })
    expect(facts.warnings).toMatchObject([{ code: 'DAY_OR_WEEKDAY', at: null }])
  })

  it('a fault of ours is not blamed on the user', () => {
    const problem = problemOf(new TypeError('x is not a function'))
    expect(problem).toMatchObject({ code: 'INTERNAL', exit: 1 })
    expect(problemText(problem, false)).toContain('please report it')
  })

  it.each([
    [90, '90ms'],
    [59_999, '59s'],
    [3_600_000, '1h'],
    [67_380_000, '18h 43m'],
    [400 * 86_400_000, '1y 35d'],
  ])('%d ms away reads %s', (ms, text) => {
    expect(distanceText(ms)).toBe(text)
  })
})
