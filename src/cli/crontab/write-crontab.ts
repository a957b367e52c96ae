/** Writes stored schedules as a crontab, and reports what a crontab cannot express; the caller passes schedules and commands. */
import { parseDuration } from '../../time/duration.ts'
import { type Line, lineOf, type Program } from './command-line.ts'
import { markOf } from './comment.ts'
import { type StoredTiming, sayTiming } from './cron-fields.ts'
import { settingLine } from './setting.ts'

/** The fields of a schedule in REST that the export reads. */
export interface StoredSchedule extends StoredTiming {
  readonly workspace: string
  readonly key: string
  readonly job: string
  readonly description?: string
  readonly jitter?: unknown
  readonly dst?: unknown
  readonly overlap?: string
  readonly paused: object | null
  readonly quarantined: object | null
  readonly nextFireAt: string | null
}

export interface ExportWishes {
  readonly programOf: (job: string) => Program | null
  /** The folder in which cron starts commands. */
  readonly home: string
  readonly now: number
}

export interface Remarked {
  readonly key: string
  readonly reason: string
}

export interface Exported {
  readonly text: string
  /** Number of lines with a command. */
  readonly lines: number
  /** Schedules without a line. */
  readonly left: readonly Remarked[]
  /** What the lines of the others do not express. */
  readonly lost: readonly Remarked[]
}

interface Written extends Line {
  readonly schedule: StoredSchedule
  readonly text: string
  readonly settings: readonly (readonly [name: string, value: string])[]
  readonly time: string
}

export function writeCrontab(schedules: readonly StoredSchedule[], wishes: ExportWishes): Exported {
  const read = schedules.map((schedule) => writtenOf(schedule, wishes))
  const left = read.filter((each): each is Remarked => 'reason' in each)
  const written = read.filter((each): each is Written => !('reason' in each)).sort(byVariables)
  const set = new Map<string, string>()
  const lost: Remarked[] = []
  const blocks = written.map((each) => {
    const reasons = lossesOf(each, set)
    lost.push(...reasons.map((reason) => ({ key: each.schedule.key, reason })))
    return blockOf(each, reasons, set)
  })
  return { text: [HEAD, ...blocks, ...leftText(left)].join('\n\n').concat('\n'), lines: written.length, left, lost }
}

const HEAD = [
  '# Schedules of Everytick, by everytick export crontab.',
  '# CRON_TZ works in cronie and some other crons. In the rest, all times are in the time zone of the machine.',
].join('\n')

function writtenOf(schedule: StoredSchedule, { programOf, home, now }: ExportWishes): Written | Remarked {
  const { workspace, key, quarantined, nextFireAt, paused } = schedule
  if (quarantined) return { key, reason: 'it is quarantined' }
  if (nextFireAt === null && !paused) return { key, reason: 'it has ended' }
  const said = sayTiming(schedule, { now, seed: `${workspace}/${key}` })
  if ('reason' in said) return { key, reason: said.reason }
  const line = lineOf(schedule, programOf(schedule.job), home)
  const settings = [...ownSettings(said.zone, line, delayOf(schedule)), ...variablesOf(line)]
  if (line.text === null || settings.some(([name, value]) => settingLine({ name, value }) === null))
    return { key, reason: 'its command contains text that a crontab line cannot hold' }
  return { ...line, text: line.text, schedule, settings, time: said.time }
}

/** Jitter in whole minutes, as in cronie's RANDOM_DELAY; 0 without jitter, null for other kinds of jitter. */
const delayOf = ({ jitter = 'none' }: StoredSchedule): number | null => {
  if (jitter === 'none') return 0
  if (typeof jitter !== 'string' || jitter.endsWith('%')) return null
  const minutes = parseDuration(jitter) / 60_000
  return Number.isInteger(minutes) && minutes < MAX_MINUTES ? minutes : null
}
const MAX_MINUTES = 10_000

const ownSettings = (zone: string, { shell }: Line, delay: number | null): [string, string][] => [
  ['CRON_TZ', zone],
  ['SHELL', shell],
  ['RANDOM_DELAY', String(delay ?? 0)],
]
const NEED_NOT_BE_SAID: Readonly<Record<string, string>> = { SHELL: '/bin/sh', RANDOM_DELAY: '0' }

const variablesOf = ({ env }: Line): [string, string][] =>
  Object.entries(env).filter(([name]) => name !== 'CRON_TZ' && name !== 'SHELL' && name !== 'RANDOM_DELAY')

/** A crontab cannot unset a variable, so schedules with the fewest variables come first. */
const byVariables = (a: Written, b: Written): number =>
  a.settings.length - b.settings.length || compareKeys(a.schedule.key, b.schedule.key)

const { compare: compareKeys } = new Intl.Collator('en', { numeric: true })

function lossesOf({ schedule, settings, isCommand }: Written, set: ReadonlyMap<string, string>): string[] {
  const { jitter, dst, overlap, paused } = schedule
  const named = new Set(settings.map(([name]) => name))
  const foreign = [...set.keys()].filter((name) => !named.has(name))
  return [
    ...(paused ? ['it is paused: its line is commented out'] : []),
    ...(delayOf(schedule) === null ? [`its jitter of ${JSON.stringify(jitter)} is left out`] : []),
    ...(dst ? ['its own rule for clock changes is left out'] : []),
    ...(isCommand && overlap !== undefined && overlap !== 'allow'
      ? [`cron does not prevent overlap (${overlap}): use flock`]
      : []),
    ...(foreign.length > 0 ? [`its command also sees ${foreign.join(', ')}, which lines above set`] : []),
  ]
}

function blockOf(
  { schedule, settings, time, text }: Written,
  reasons: readonly string[],
  set: Map<string, string>,
): string {
  const fresh = settings.filter(([name, value]) => (set.get(name) ?? NEED_NOT_BE_SAID[name]) !== value)
  for (const [name, value] of fresh) set.set(name, value)
  const { description = '', paused } = schedule
  return [
    ...fresh.map(([name, value]) => settingLine({ name, value })!),
    ...reasons.map((reason) => comment(`Note: ${reason}`)),
    markOf(schedule),
    ...(description.trim() === '' ? [] : [comment(description)]),
    `${paused ? '#' : ''}${time} ${text}`,
  ].join('\n')
}

const leftText = (left: readonly Remarked[]): string[] =>
  left.length === 0 ? [] : [left.map(({ key, reason }) => comment(`Not exported: ${key}: ${reason}`)).join('\n')]

/** As one comment line, for any text. */
const comment = (text: string): string => `# ${text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()}`
