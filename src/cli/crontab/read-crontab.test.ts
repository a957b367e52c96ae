import { describe, expect, it } from 'vitest'
import { readCrontab } from './read-crontab.ts'

const valuesOf = (settings: ReadonlyMap<string, { readonly value: string }>): object =>
  Object.fromEntries([...settings].map(([name, { value }]) => [name, value]))

describe('the crontab of a user', () => {
  it('has entries with the settings that stand above them', () => {
    const { system, entries, unreadable } = readCrontab(
      ['A=1', '0 5 * * * first', '', 'A=2', 'B=3', '@daily second', '* * * * * third'].join('\n'),
    )
    expect([system, unreadable]).toEqual([false, []])
    expect(entries.map(({ line, time, command, settings }) => [line, time, command, valuesOf(settings)])).toEqual([
      [2, '0 5 * * *', 'first', { A: '1' }],
      [6, '@daily', 'second', { A: '2', B: '3' }],
      [7, '* * * * *', 'third', { A: '2', B: '3' }],
    ])
  })

  it.each([
    ['leading blanks', ' \t0 5 * * * a', '0 5 * * *', 'a'],
    ['many blanks and tabs', '0\t5  *\t* \t* \t a  b', '0 5 * * *', 'a  b'],
    ['a sign that is no comment', '0 5 * * * a # b', '0 5 * * *', 'a # b'],
    ['line ends of Windows', '0 5 * * * a\r', '0 5 * * *', 'a'],
    ['a mark of bytes at its beginning', '\uFEFF0 5 * * * a', '0 5 * * *', 'a'],
    ['a minus that keeps cron silent', '-0 5 * * * a', '0 5 * * *', 'a'],
    ['an interval', '@every 5m a', '@every 5m', 'a'],
    ['flags of the BSDs', '@daily -n -q a -s', '@daily', 'a -s'],
    ['a variable before the command', '0 5 * * * A=1 a', '0 5 * * *', 'A=1 a'],
    ['a command that begins with a digit', '0 5 * * * 7z a x', '0 5 * * *', '7z a x'],
  ])('is read with %s', (_, line, time, command) => {
    expect(readCrontab(line)).toMatchObject({ entries: [{ time, command, user: null }], unreadable: [] })
  })

  it('has comments that belong to the line below them, unless something stands between', () => {
    const { entries } = readCrontab('# one\n#two\n0 5 * * * a\n# three\n\n0 6 * * * b\n# four\nA=1\n0 7 * * * c\n')
    expect(entries.map(({ comments }) => comments)).toEqual([['one', 'two'], [], []])
  })

  it('keeps a run from overlapping another where -s says so', () => {
    expect(readCrontab('@daily -ns a\n@daily a').entries.map(({ alone }) => alone)).toEqual([true, false])
  })

  it.each([
    ['too few fields', '0 5 * * command', /five time fields/],
    ['no command', '0 5 * * *', /five time fields/],
    ['no command behind blanks', '0 5 * * *   ', /command is missing|five time fields/],
    ['only a flag', '@daily -n ', /command is missing|five time fields/],
    ['a sixth field', '0 0 5 * * * command', /"\*" is not a command/],
    ['a year', '0 5 * * * 2027 command', /"2027" is not a command/],
    ['a NUL', '0 5 * * * a\0b', /NUL/],
    ['words', 'hello', /five time fields/],
  ])('has a line that cannot be read: %s', (_, line, reason) => {
    expect(readCrontab(`# x\n${line}\n`)).toMatchObject({
      entries: [],
      unreadable: [{ line: 2, reason: expect.stringMatching(reason) }],
    })
  })
})

describe('the crontab of the system', () => {
  it.each([
    ['because it was said', '0 5 * * * www-data a', true],
    ['by a line of root', 'A=1\n0 5 * * * www-data a\n@daily root b', undefined],
    ['by its heading', '# m h dom mon dow user  command\n0 5 * * * www-data a', undefined],
  ])('has a user on each line: %s', (_, text, system) => {
    const { system: found, entries } = readCrontab(text, system)
    expect([found, entries[0]]).toMatchObject([true, { user: 'www-data', command: 'a' }])
  })

  it('has none where nothing says so, or where it was said', () => {
    expect(readCrontab('0 5 * * * www-data a').entries[0]).toMatchObject({ user: null, command: 'www-data a' })
    expect(readCrontab('0 5 * * * root a', false).entries[0]).toMatchObject({ user: null, command: 'root a' })
  })

  it('has a line that cannot be read without a command behind the user', () => {
    expect(readCrontab('0 5 * * * root', true).unreadable).toMatchObject([{ line: 1 }])
  })
})

it('reads a file of twenty thousand lines', () => {
  expect(readCrontab('A=1\n0 5 * * * job\n'.repeat(10_000)).entries).toHaveLength(10_000)
})
