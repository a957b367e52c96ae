/** Reads a crontab into entries, each with the settings above it; `plan-import.ts` decides whether an entry can be imported. */

import { splitPercent } from './percent.ts'
import { readSetting } from './setting.ts'

export interface SettingHere {
  readonly value: string
  readonly line: number
}

export interface Entry {
  readonly line: number
  /** Five fields, or a macro with its argument. */
  readonly time: string
  /** Null in a user's crontab. */
  readonly user: string | null
  /** BSD's -s: not while the previous run is active. */
  readonly alone: boolean
  readonly command: string
  readonly stdin: string | null
  readonly settings: ReadonlyMap<string, SettingHere>
  /** The comment lines directly above, without #. */
  readonly comments: readonly string[]
}

export interface Unreadable {
  readonly line: number
  readonly reason: string
}

export interface Crontab {
  /** Whether the sixth word of a line is a user. */
  readonly system: boolean
  readonly entries: readonly Entry[]
  readonly unreadable: readonly Unreadable[]
}

/** `system` undefined: detect it. */
export function readCrontab(text: string, system?: boolean): Crontab {
  const lines = text.replace(/^\uFEFF/, '').split('\n')
  const isSystem = system ?? looksLikeSystem(lines)
  const entries: Entry[] = []
  const unreadable: Unreadable[] = []
  const current = new Map<string, SettingHere>()
  let settings: Entry['settings'] | null = null
  let comments: string[] = []
  for (const [i, raw] of lines.entries()) {
    const line = i + 1
    const said = withoutMargin(raw)
    const setting = said === '' || said.startsWith('#') ? null : readSetting(said)
    if (said.startsWith('#')) {
      comments.push(said.slice(1).trim())
      continue
    }
    if (setting) {
      current.set(setting.name, { value: setting.value, line })
      settings = null
    } else if (said !== '') {
      const read = readEntry(said, isSystem)
      // One copy for all the lines between two settings.
      settings ??= new Map(current)
      if (typeof read === 'string') unreadable.push({ line, reason: read })
      else entries.push({ ...read, line, settings, comments })
    }
    comments = []
  }
  return { system: isSystem, entries, unreadable }
}

const withoutMargin = (raw: string): string => raw.replace(/\r$/, '').replace(/^[ \t]+/, '')

type Read = Pick<Entry, 'time' | 'user' | 'alone' | 'command' | 'stdin'>

/** Returns the entry, or the error as text. */
function readEntry(said: string, system: boolean): Read | string {
  // In some crons, a leading minus disables logging.
  const text = said.replace(/^-(?=[\d*@])/, '')
  const count = /^@every\s/i.test(text) ? 2 : text.startsWith('@') ? 1 : 5
  const time = takeWords(text, count)
  if (time === null) return 'a line needs five time fields and then a command'
  const who = system ? takeWords(time.rest, 1) : { words: null, rest: time.rest }
  if (who === null) return 'the user or the command is missing; use --no-system for lines without a user'
  const { rest, flags } = takeFlags(who.rest)
  if (rest === '') return 'the command is missing'
  if (/^[*\d][\d*,/-]*(?:\s|$)/.test(rest))
    return `${JSON.stringify(rest.split(/\s/)[0]!.slice(0, 20))} is not a command: a crontab has no seconds or years field`
  if (rest.includes('\0')) return 'the line contains a NUL character'
  return {
    ...{ time: time.words.join(' '), user: who.words?.[0] ?? null, alone: flags.includes('s') },
    ...splitPercent(rest),
  }
}

/** The first words and the rest; null when there is no rest. */
function takeWords(text: string, count: number): { readonly words: readonly string[]; readonly rest: string } | null {
  const words: string[] = []
  let rest = text
  while (words.length < count) {
    const [whole, word] = /^([^ \t]+)[ \t]+/.exec(rest) ?? []
    if (whole === undefined) return null
    words.push(word!)
    rest = rest.slice(whole.length)
  }
  return rest === '' ? null : { words, rest }
}

/** The BSD flags -n, -q and -s. */
function takeFlags(text: string): { readonly flags: string; readonly rest: string } {
  const [whole = ''] = /^(?:-[nqs]+[ \t]+)+/.exec(text) ?? []
  return { flags: whole, rest: text.slice(whole.length) }
}

const COLUMNS = /\bdow\s+user(?:-?name)?\b/
/** Nobody's command. */
const ROOT = /^-?(?:@[a-z_]+|(?:[^ \t@]+[ \t]+){4}[^ \t]+)[ \t]+root[ \t]+\S/

/** Detected by the column heading, or by a line of a user found in every system crontab. */
const looksLikeSystem = (lines: readonly string[]): boolean =>
  lines.some((raw) => {
    const line = withoutMargin(raw)
    return line.startsWith('#') ? COLUMNS.test(line) : ROOT.test(line) && readSetting(line) === null
  })
