/** One call of every command of the program, for tests that walk all of them; a test fails for a command that has none. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Command } from 'commander'
import { root } from '../built-package.ts'

const ID = '01900000-0000-7000-8000-000000000001'
const SPEC = ['--every', '5m', '--job', 'plain']

/** What follows the words of a command: enough that it reaches the server or database that is meant, and ends by itself. */
export const CALLS: Readonly<Record<string, readonly string[]>> = {
  dev: ['--port', '0', '--seconds', '1'],
  serve: ['--port', '0'],
  worker: ['--seconds', '1'],
  init: ['new', '--dry-run'],
  next: ['a-schedule'],
  explain: ['0 2 * * *'],
  'schedules ls': [],
  'schedules get': ['a-schedule'],
  'schedules create': ['a-schedule', ...SPEC],
  'schedules edit': ['a-schedule', '--every', '6m'],
  'schedules pause': ['a-schedule'],
  'schedules resume': ['a-schedule'],
  'schedules rm': ['a-schedule', '--yes'],
  trigger: ['a-schedule'],
  backfill: ['a-schedule', '--from', '2026-01-01T00:00:00Z', '--to', '2026-01-02T00:00:00Z', '--yes'],
  'backfill watch': [ID],
  'backfill ls': [],
  'backfill cancel': [ID],
  'runs ls': [],
  'runs get': [ID],
  'runs logs': [ID],
  'runs retry': [ID],
  'runs cancel': [ID],
  'runs rm': [ID],
  'ops ls': [],
  'ops watch': [ID],
  'ops cancel': [ID],
  why: ['a-schedule', '2026-01-01T00:00:00Z'],
  simulate: ['0 2 * * *'],
  forecast: [],
  audit: [],
  'audit-log head': [],
  'audit-log ls': [],
  'audit-log verify': [],
  bench: ['--dry-run'],
  'queues ls': [],
  'queues pause': ['a-queue'],
  'queues resume': ['a-queue'],
  'queues limit': ['a-queue', '--global-concurrency', '2'],
  quotas: [],
  'workers ls': [],
  'workers drain': [ID],
  'locks ls': [],
  'locks release': ['a-lock'],
  'keys create': ['--name', 'a-key', '--dry-run'],
  'keys ls': [],
  'keys revoke': [ID],
  'keys roll': [ID],
  'alerts ls': [],
  'alerts ack': [ID],
  'alerts mute': [ID],
  'alerts unmute': [ID],
  'alerts resolve': [ID],
  'alert-rules ls': [],
  'alert-rules set': ['a-rule', '--off'],
  'channels ls': [],
  'channels add': ['a-channel', '--kind', 'log'],
  'channels test': [ID],
  'channels rm': [ID],
  migrate: ['--dry-run'],
  sync: ['--dry-run'],
  apply: ['--file', 'schedules.yaml', '--dry-run'],
  doctor: [],
  cleanup: ['--dry-run'],
  'import crontab': ['my.cron', '--dry-run'],
  'export crontab': [],
  completion: ['bash'],
}

/** The files that these calls read. */
export const INPUTS: Readonly<Record<string, string>> = {
  'schedules.yaml': 'key: a\nevery: 5m\njob: plain\n',
  'my.cron': '@daily /bin/true\n',
}

export interface KnownCommand {
  /** The words that call it. */
  readonly path: string
  readonly flags: readonly string[]
}

/** Every command of the built program that does something. */
export async function everyCommand(): Promise<readonly KnownCommand[]> {
  const { createProgram } = (await import(pathToFileURL(join(root, 'dist/cli/program.js')).href)) as {
    createProgram: (write: (text: string) => void) => Command
  }
  return leavesOf(
    createProgram(() => {}),
    [],
  )
}

function leavesOf(command: Command, above: readonly string[]): readonly KnownCommand[] {
  const subs = command.commands.filter((sub) => sub.name() !== 'help')
  const below = subs.flatMap((sub) => leavesOf(sub, [...above, sub.name()]))
  if (subs.length > 0 && command.registeredArguments.length === 0) return below
  return [{ path: above.join(' '), flags: command.options.map(({ long }) => long ?? '') }, ...below]
}

/** Works on each item, so many at a time. */
export async function eachOf<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
  atOnce = 3,
): Promise<readonly Result[]> {
  const results = new Array<Result>(items.length)
  let next = 0
  const hand = async (): Promise<void> => {
    for (let i = next++; i < items.length; i = next++) results[i] = await work(items[i]!)
  }
  await Promise.all(Array.from({ length: atOnce }, hand))
  return results
}
