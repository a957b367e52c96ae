/** Turns a crontab into schedules and jobs, and collects the lines that cannot be imported; pure. `read-crontab.ts` reads, `apply` stores. */
import { createHash } from 'node:crypto'
import { EverytickError } from '../../errors.ts'
import { timeZone } from '../../schedule/time-zone.ts'
import { commandName, slug } from './command-name.ts'
import { type Remark, readRemark } from './comment.ts'
import type { Crontab, Entry } from './read-crontab.ts'
import { type Rule, readTime } from './time-fields.ts'
import { type Note, notesOf, type Work, workOf } from './work.ts'

export interface ImportWishes {
  readonly workspace: string
  /** The zone of lines without a CRON_TZ above them. */
  readonly zone: string
  readonly prefix: string
  readonly tag: string
  readonly overlap: string
  readonly catchUp: string
  /** The job of all schedules, with the command as payload; null: one job per command. */
  readonly job: string | null
}

export interface PlannedJob extends Work {
  readonly name: string
}

export interface Problem {
  readonly line: number
  readonly code: string
  readonly reason: string
}

export interface PlannedSchedule {
  readonly line: number
  readonly body: Readonly<Record<string, unknown>> & {
    readonly key: string
    readonly workspace: string
    readonly job: string
  }
}

export interface ImportPlan {
  readonly schedules: readonly PlannedSchedule[]
  readonly jobs: readonly PlannedJob[]
  readonly problems: readonly Problem[]
  readonly notes: readonly Note[]
}

export function planImport({ entries, unreadable }: Crontab, wishes: ImportWishes): ImportPlan {
  const problems: Problem[] = unreadable.map((each) => ({ ...each, code: 'CRON_SYNTAX' }))
  const schedules: PlannedSchedule[] = []
  const names = createNames()
  for (const entry of entries) {
    const remark = readRemark(entry.comments)
    const work = workOf(entry)
    const job = wishes.job ?? names.ofJob(work, remark.job ?? jobName(entry, remark, wishes))
    const key = names.ofSchedule(remark.key ?? (wishes.job === null ? job : jobName(entry, remark, wishes)))
    try {
      const rule = ruleOf(entry, key, wishes)
      schedules.push({ line: entry.line, body: bodyOf({ entry, remark, rule, key, job, work }, wishes) })
    } catch (error) {
      problems.push(problemOf(error, entry))
    }
  }
  const used = new Set(schedules.map(({ body }) => body.job))
  return {
    schedules,
    jobs: wishes.job === null ? names.jobs().filter(({ name }) => used.has(name)) : [],
    problems: unique(problems),
    notes: notesOf(entries),
  }
}

const jobName = ({ command }: Entry, { name }: Remark, { prefix }: ImportWishes): string =>
  `${prefix}${(name === null ? '' : slug(name)) || commandName(command)}`

interface Names {
  /** Equal for equal commands. */
  ofJob(work: Work, wanted: string): string
  ofSchedule(wanted: string): string
  jobs(): readonly PlannedJob[]
}

/** The first command keeps the plain name; other commands with that name get a hash suffix, which is stable across imports. */
function createNames(): Names {
  const jobs = new Map<string, PlannedJob>()
  const [jobNames, keys] = [new Set<string>(), new Set<string>()]
  const claim = (taken: Set<string>, wishes: readonly string[]): string => {
    const free = wishes.find((wish) => !taken.has(wish)) ?? numbered(wishes.at(-1)!, taken)
    taken.add(free)
    return free
  }
  return {
    ofJob(work, wanted) {
      const id = JSON.stringify(work)
      const known = jobs.get(id)
      if (known) return known.name
      const name = claim(jobNames, [wanted, `${wanted}-${shortHash(work)}`])
      jobs.set(id, { ...work, name })
      return name
    },
    ofSchedule: (wanted) => claim(keys, [wanted]),
    // Sorted by name, so that the jobs file does not depend on the order of lines.
    jobs: () => [...jobs.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
  }
}

const shortHash = ({ command, stdin }: Work): string =>
  createHash('sha256')
    .update(`${command}\n${stdin ?? ''}`)
    .digest('hex')
    .slice(0, 6)

function numbered(wanted: string, taken: ReadonlySet<string>): string {
  for (let i = 2; ; i++) if (!taken.has(`${wanted}-${i}`)) return `${wanted}-${i}`
}

function ruleOf({ time, settings, command }: Entry, key: string, { zone: usual, workspace }: ImportWishes): Rule {
  if (/^\s*(?:npx\s+)?everytick\s+trigger\s/.test(command))
    throw new EverytickError(
      'OPTION_INVALID',
      'it runs everytick trigger, so the imported schedule would trigger itself',
    )
  const zone = zoneOf(settings) ?? usual
  // Check the zone first, so that an invalid zone is not reported as an invalid time.
  timeZone(zone)
  return readTime(time, { zone, seed: `${workspace}/${key}` })
}

/** As in the C library, a leading colon has no effect. */
const zoneOf = (settings: Entry['settings']): string | null =>
  settings.get('CRON_TZ')?.value.trim().replace(/^:/, '') || null

interface Parts {
  readonly entry: Entry
  readonly remark: Remark
  readonly rule: Rule
  readonly key: string
  readonly job: string
  readonly work: Work
}

/** As cron does: one attempt, overlapping runs allowed, no catch-up. */
function bodyOf(parts: Parts, wishes: ImportWishes): PlannedSchedule['body'] {
  const { entry, remark, rule, key, job, work } = parts
  const delay = delayOf(entry)
  return {
    ...{ key, workspace: wishes.workspace, ...rule, job },
    ...(wishes.job === null ? {} : { payload: payloadOf(work) }),
    ...{ overlap: entry.alone ? 'skip' : wishes.overlap, catchUp: wishes.catchUp, retry: { attempts: 1 } },
    // As cron does: an import cannot know how long a job may take.
    timeout: 'none',
    ...(delay === 0 ? {} : { jitter: `${delay}m` }),
    ...(remark.description === null ? {} : { description: remark.description }),
    tags: [wishes.tag],
  }
}

const payloadOf = (work: Work): object =>
  Object.fromEntries(Object.entries(work).filter(([, value]) => value !== null && JSON.stringify(value) !== '{}'))

/** cronie's RANDOM_DELAY: maximum delay in minutes. */
export const delayOf = ({ settings }: Entry): number => {
  const text = settings.get('RANDOM_DELAY')?.value.trim() ?? ''
  return /^\d{1,4}$/.test(text) ? Number(text) : 0
}

/** Reports an invalid zone at the line that sets it. */
function problemOf(error: unknown, { line, settings }: Entry): Problem {
  if (!(error instanceof EverytickError)) throw error
  const { code, message, hint } = error
  const zone = settings.get('CRON_TZ')
  const isZone = zone !== undefined && !isZoneName(zoneOf(settings))
  return {
    line: isZone ? zone.line : line,
    code,
    reason: `${isZone ? 'CRON_TZ: ' : ''}${message}${hint === undefined ? '' : ` (${hint})`}`,
  }
}

function isZoneName(name: string | null): boolean {
  try {
    return name === null || timeZone(name) !== undefined
  } catch {
    return false
  }
}

function unique(problems: readonly Problem[]): readonly Problem[] {
  const found = new Map(problems.map((each) => [`${each.line} ${each.reason}`, each]))
  return [...found.values()].sort((a, b) => a.line - b.line)
}
