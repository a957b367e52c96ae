/** Reads a crontab into its entries, each with the settings that stood above it; whether an entry can be carried over is decided by `plan-import.ts`. */

import { splitPercent } from './percent.ts'
import { readSetting } from './setting.ts'

export interface SettingHere {
  readonly value: string
  readonly line: number
}

export interface Entry {
  readonly line: number
  /** Five fields, or a macro with what belongs to it. */
  readonly time: string
  /** Null in the file of one user. */
  readonly user: string | null
  /** With BSD's -s: not while the one before is running. */
  readonly alone: boolean
  readonly command: string
  readonly stdin: string | null
  readonly settings: ReadonlyMap<string, SettingHere>
  /** The lines right above that begin with #, without it. */
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

/** `system` undefined: it shows. */
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

/** What is wrong with it, as text. */
function readEntry(said: string, system: boolean): Read | string {
  // A minus in front keeps some crons from logging.
  const text = said.replace(/^-(?=[\d*@])/, '')
  const count = /^@every\s/i.test(text) ? 2 : text.startsWith('@') ? 1 : 5
  const time = takeWords(text, count)
  if (time === null) return 'a line has five fields of time and then a command'
  const who = system ? takeWords(time.rest, 1) : { words: null, rest: time.rest }
  if (who === null) return 'there is no user, or no command after it; --no-system reads lines without a user'
  const { rest, flags } = takeFlags(who.rest)
  if (rest === '') return 'there is no command'
  if (/^[*\d][\d*,/-]*(?:\s|$)/.test(rest))
    return `${JSON.stringify(rest.split(/\s/)[0]!.slice(0, 20))} is no command: a crontab has no seconds and no years`
  if (rest.includes('\0')) return 'there is a NUL in it'
  return {
    ...{ time: time.words.join(' '), user: who.words?.[0] ?? null, alone: flags.includes('s') },
    ...splitPercent(rest),
  }
}

/** The first words and what follows them; null when there is nothing after them. */
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

/** -n, -q and -s of the BSDs. */
function takeFlags(text: string): { readonly flags: string; readonly rest: string } {
  const [whole = ''] = /^(?:-[nqs]+[ \t]+)+/.exec(text) ?? []
  return { flags: whole, rest: text.slice(whole.length) }
}

const COLUMNS = /\bdow\s+user(?:-?name)?\b/
/** Nobody's command. */
const ROOT = /^-?(?:@[a-z_]+|(?:[^ \t@]+[ \t]+){4}[^ \t]+)[ \t]+root[ \t]+\S/

/** By its heading, or by a line of the user who is in every such file. */
const looksLikeSystem = (lines: readonly string[]): boolean =>
  lines.some((raw) => {
    const line = withoutMargin(raw)
    return line.startsWith('#') ? COLUMNS.test(line) : ROOT.test(line) && readSetting(line) === null
  })
