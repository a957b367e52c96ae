/** Holds help, reference and README together: every command and option of the built program stands in both pages, and they name no other. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Command } from 'commander'
import { beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt, readText, root } from '../built-package.ts'
import { sectionsOf } from '../markdown.ts'

const PAGE = 'docs/reference/cli.md'
const FOR_ALL = 'Rules for every command'
/** Every command has it. */
const GLOBAL = new Set(['--help', '--version', '--no-config'])

/** One command that does something, by the words that call it. */
interface Known {
  readonly path: string
  readonly flags: readonly string[]
}

let createProgram: (write: (text: string) => void, args?: readonly string[]) => Command
let commands: readonly Known[] = []
let help = ''
beforeAll(async () => {
  ensureBuilt()
  createProgram = (await import(pathToFileURL(join(root, 'dist/cli/program.js')).href)).createProgram
  commands = leavesOf(
    createProgram(() => {}),
    [],
  )
  help = spawnSync(process.execPath, [join(root, 'dist/cli/main.js'), '--help'], { encoding: 'utf8' }).stdout
}, 120_000)

function leavesOf(command: Command, above: readonly string[]): Known[] {
  const subs = command.commands.filter((sub) => sub.name() !== 'help' && !isHidden(sub))
  const below = subs.flatMap((sub) => leavesOf(sub, [...above, sub.name()]))
  // A group that takes words of its own is a command besides.
  if (subs.length > 0 && command.registeredArguments.length === 0) return below
  const flags = command.options.filter(({ hidden }) => !hidden).map(({ long, short }) => long ?? short!)
  return [{ path: above.join(' '), flags }, ...below]
}

const isHidden = (command: Command): boolean => (command as unknown as { _hidden?: boolean })._hidden === true

const firstOf = (path: string): string => path.split(' ')[0]!
const topLevel = (): string[] => [...new Set(commands.map(({ path }) => firstOf(path)))]
const flagsIn = (text: string): string[] => [...new Set(text.match(/(?<![\w-])--[a-z][a-z-]*/g) ?? [])]

/** Lines of blocks and cells that call the program. */
const callsIn = (text: string): string[] =>
  text.split('\n').flatMap((line) => {
    const [, call] = /^(?:\$ |\| `)?(?:npx )?(everytick (?!\d).*)$/.exec(line.trim()) ?? []
    return call === undefined ? [] : [call]
  })

/** The longest command that a call names; undefined when there is none. */
function namedBy(call: string): Known | undefined {
  const words = call.replaceAll('`', '').split(/\s+/).slice(1)
  const fits = ({ path }: Known): boolean => path.split(' ').every((word, i) => words[i] === word)
  return commands.filter(fits).sort((a, b) => b.path.length - a.path.length)[0]
}

/** Whether a call names a command, or a group of them whose subcommands stand elsewhere. */
const isCall = (call: string): boolean => {
  const [, word = ''] = call.replaceAll('`', '').split(/\s+/)
  return /^(?:-|help$|<|\[|…)/.test(word) || namedBy(call) !== undefined || topLevel().includes(word)
}

const groupFlags = (group: string): Set<string> =>
  new Set(commands.filter(({ path }) => firstOf(path) === group).flatMap(({ flags }) => flags))

const sections = () => sectionsOf(PAGE)
const sectionOf = (command: string): string =>
  sections().find(({ title }) => title === `everytick ${command}`)?.text ?? ''
const commonFlags = (): Set<string> => new Set(flagsIn(sections().find(({ title }) => title === FOR_ALL)?.text ?? ''))

describe('the help of the program', () => {
  it('lists every command', () => {
    for (const name of topLevel()) expect(help).toMatch(new RegExp(`^ {2}${name}\\b`, 'm'))
  })

  it('is the same when only the commands that may be meant are set up', () => {
    const whole = createProgram(() => {})
    expect(createProgram(() => {}, ['--help']).helpInformation()).toBe(whole.helpInformation())
    for (const command of whole.commands) {
      const part = createProgram(() => {}, [command.name()])
      const same = part.commands.find((each) => each.name() === command.name())
      expect(same?.helpInformation()).toBe(command.helpInformation())
      if (command.name() !== 'completion') expect(part.commands.length).toBeLessThan(whole.commands.length / 2)
    }
  })

  it('says of every command and option what it does', () => {
    const silent = (command: Command): string[] => [
      ...(command.description() === '' ? [command.name()] : []),
      ...command.options
        .filter(({ description }) => description === '')
        .map(({ flags }) => `${command.name()} ${flags}`),
      ...command.commands.flatMap(silent),
    ]
    expect(silent(createProgram(() => {}))).toEqual([])
  })
})

describe('the reference of the command line', () => {
  it('has a section for every command, and for no other', () => {
    const titles = sections().flatMap(({ title }) => /^everytick ([a-z][a-z-]*)$/.exec(title)?.[1] ?? [])
    expect(titles.toSorted()).toEqual(topLevel().toSorted())
  })

  it('shows how every command is called', () => {
    const shown = (path: string): boolean => {
      const calls = callsIn(sectionOf(firstOf(path)))
      return calls.some((call) => namedBy(call)?.path === path)
    }
    expect(commands.filter(({ path }) => !shown(path)).map(({ path }) => path)).toEqual([])
  })

  it('names every option, beside the command or among those that many have', () => {
    const missing = commands.flatMap(({ path, flags }) => {
      const named = new Set([...flagsIn(sectionOf(firstOf(path))), ...commonFlags()])
      return flags.filter((flag) => !named.has(flag)).map((flag) => `${path} ${flag}`)
    })
    expect(missing).toEqual([])
  })

  it('calls no command and names no option that there is not', () => {
    const calls = sections().flatMap(({ text }) => callsIn(text))
    expect(calls.filter((call) => !isCall(call))).toEqual([])
    const strange = topLevel().flatMap((group) => {
      const known = groupFlags(group)
      const cells = sectionOf(group)
        .split('\n')
        .filter((line) => line.startsWith('| `-'))
        .map((line) => line.split('|')[1]!)
      const own = callsIn(sectionOf(group)).filter((call) => call.split(/\s+/)[1] === group)
      const flags = flagsIn([...cells, ...own].join('\n'))
      return flags.filter((flag) => !known.has(flag) && !GLOBAL.has(flag)).map((flag) => `${group} ${flag}`)
    })
    expect(strange).toEqual([])
  })

  it('names among the options that many have none that nobody has', () => {
    const all = new Set(commands.flatMap(({ flags }) => flags))
    expect([...commonFlags()].filter((flag) => !all.has(flag) && !GLOBAL.has(flag))).toEqual([])
  })
})

describe('the README', () => {
  const rows = (): string[] =>
    readText('README.md')
      .split('\n')
      .filter((line) => line.startsWith('| `everytick '))

  it('has a row for every command', () => {
    const named = new Set(
      rows().flatMap((row) => Array.from(row.matchAll(/`everytick ([a-z-]+)/g), ([, name]) => name!)),
    )
    expect([...named].toSorted()).toEqual(topLevel().toSorted())
  })

  it('names in them no option that its command has not', () => {
    const strange = rows().flatMap((row) => {
      const cell = row.slice(0, row.indexOf('` |') + 1)
      const group = cell.split(/\s+/)[2]!.replaceAll('`', '')
      return flagsIn(cell)
        .filter((flag) => !groupFlags(group).has(flag))
        .map((flag) => `${group} ${flag}`)
    })
    expect(strange).toEqual([])
  })
})
