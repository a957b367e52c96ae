import { expect, it } from 'vitest'
import type { Program } from './command-line.ts'
import { type StoredSchedule, writeCrontab } from './write-crontab.ts'

const stored = (key: string, more: Partial<StoredSchedule> = {}): StoredSchedule => ({
  ...{ workspace: 'default', key, job: key, timezone: 'UTC', paused: null, quarantined: null },
  ...{ nextFireAt: '2026-11-17T00:00:00Z', overlap: 'allow' },
  ...('every' in more || 'at' in more ? {} : { cron: '0 5 * * *' }),
  ...more,
})
const program = (more: Partial<Program> = {}): Program => ({
  ...{ file: 'run it', args: [], shell: '/bin/sh', stdin: null, cwd: '/srv/ana', env: {} },
  ...more,
})
const write = (schedules: readonly StoredSchedule[], programs: Readonly<Record<string, Program>> = {}) =>
  writeCrontab(schedules, { programOf: (job) => programs[job] ?? null, home: '/srv/ana', now: 0 })
/** Without heading, marks and empty lines. */
const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('# everytick ') && !/^# (?:Schedules|CRON_TZ)/.test(line))

it('writes the commands that are known, and calls itself for the others', () => {
  const { text, lines, left, lost } = write(
    [
      stored('b', { timezone: 'Asia/Tokyo' }),
      stored('a', { description: 'To\ntape' }),
      stored('x y%', { workspace: 't' }),
    ],
    { b: program({ stdin: 'in\n', shell: '/bin/bash' }) },
  )
  expect([lines, left, lost]).toEqual([3, [], []])
  expect(linesOf(text)).toEqual([
    'CRON_TZ=UTC',
    '# To tape',
    '0 5 * * * everytick trigger a',
    ...['CRON_TZ=Asia/Tokyo', 'SHELL=/bin/bash', '0 5 * * * run it%in'],
    ...['CRON_TZ=UTC', 'SHELL=/bin/sh', "0 5 * * * everytick trigger 't/x y\\%'"],
  ])
})

it.each([
  [
    'a program with words',
    { shell: null, file: '/bin/x', args: ['a b', "it's", '5%'] },
    `/bin/x 'a b' 'it'\\''s' '5\\%'`,
  ],
  ['a shell by hand', { shell: null, file: '/bin/sh', args: ['-c', 'a | b'] }, 'a | b'],
  ['another folder', { cwd: '/srv/my app' }, `cd '/srv/my app' && run it`],
  ['words that the payload decides', { args: null }, 'everytick trigger a'],
])('says %s', (_, more, command) => {
  expect(linesOf(write([stored('a')], { a: program(more) }).text).at(-1)).toBe(`0 5 * * * ${command}`)
})

it('sets variables before the lines that need them, and those who need none come first', () => {
  const { text, lost } = write([stored('a'), stored('b'), stored('c')], {
    a: program({ env: { A: '1', B: ' 2 ' } }),
    b: program({ env: { A: '1' } }),
    c: program(),
  })
  expect(linesOf(text)).toEqual([
    ...['CRON_TZ=UTC', '0 5 * * * run it', 'A=1', '0 5 * * * run it', 'B=" 2 "', '0 5 * * * run it'],
  ])
  expect(lost).toEqual([])
})

it('tells when a command will see what it should not', () => {
  const { lost } = write([stored('a'), stored('b')], {
    a: program({ env: { A: '1' } }),
    b: program({ env: { B: '1' } }),
  })
  expect(lost).toEqual([{ key: 'b', reason: 'its command also sees A, which lines above set' }])
})

it('leaves out what no crontab can say, and tells why, in the file too', () => {
  const { text, lines, left } = write(
    [
      stored('once', { at: '2027-01-01T00:00:00Z' }),
      stored('odd', { every: '7m' }),
      stored('lines'),
      stored('sick', { quarantined: {} }),
      stored('over', { nextFireAt: null }),
    ],
    { lines: program({ file: 'a\nb' }) },
  )
  expect(lines).toBe(0)
  expect(left.map(({ key }) => key)).toEqual(['once', 'odd', 'lines', 'sick', 'over'])
  expect(linesOf(text)).toEqual(left.map(({ key, reason }) => `# Not exported: ${key}: ${reason}`))
})

it('tells what is lost of those that have a line', () => {
  const { text, lost } = write(
    [
      stored('a', { jitter: '30s' }),
      stored('b', { jitter: '1h' }),
      stored('c', { dst: { gap: 'skip' } }),
      stored('d', { overlap: 'skip' }),
      stored('e', { paused: {} }),
    ],
    { d: program() },
  )
  expect(lost.map(({ key, reason }) => `${key}: ${reason}`)).toEqual([
    'a: its jitter of "30s" is left out',
    'c: its own rule for clock changes is left out',
    'd: cron does not prevent overlap (skip): use flock',
    'e: it is paused: its line is commented out',
  ])
  expect(text).toContain('RANDOM_DELAY=60\n# everytick {"key":"b"}\n0 5 * * * everytick trigger b\n')
  expect(text).toContain('\n#0 5 * * * everytick trigger e\n')
})
