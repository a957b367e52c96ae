/** `everytick import crontab`: makes schedules and a file of jobs of a crontab; all of it is judged before any of it is written. */
import { timeZone } from '../../schedule/time-zone.ts'
import { answer, type JsonOption } from '../answer.ts'
import { askYes } from '../ask-yes.ts'
import { type Backend, type BackendOptions, findWhere, openBackend, openEmptyBackend } from '../backend.ts'
import { changesText } from '../changes-text.ts'
import { jobsFile } from '../crontab/jobs-file.ts'
import { localZone } from '../crontab/local-zone.ts'
import { type ImportPlan, planImport } from '../crontab/plan-import.ts'
import { type Crontab, type Entry, readCrontab } from '../crontab/read-crontab.ts'
import { type OutState, outState, readSource, type Source, writeOut } from '../crontab/source.ts'
import { closing, type Io } from '../io.ts'
import { printable } from '../print.ts'
import { UsageError } from '../usage-error.ts'
import { changesOf, isChange, namesOf, type Planned, surplus, write } from './apply.ts'
import { previewAll } from './apply-preview.ts'

export interface ImportCrontabOptions extends BackendOptions, JsonOption {
  readonly system?: boolean
  readonly user?: string
  readonly tz?: string
  readonly workspace?: string
  readonly keyPrefix?: string
  readonly tag?: string
  readonly job?: string
  readonly out?: string
  readonly force?: boolean
  readonly overlap?: string
  readonly catchUp?: string
  readonly skipUnsupported?: boolean
  readonly prune?: boolean
  readonly yes?: boolean
  readonly dryRun?: boolean
}

const JOBS_FILE = 'jobs.ts'
/** More are of the same kind. */
const MAX_LISTED = 50

export async function importCrontab(file: string, options: ImportCrontabOptions, io: Io): Promise<void> {
  if (options.json && options.out === '-') throw new UsageError('--json and --out - exclude each other')
  if (options.job !== undefined && options.out !== undefined)
    throw new UsageError('--job and --out exclude each other: with a job of yours there is no file of jobs')
  timeZone(zoneOf(options))
  const source = await readSource(file)
  const crontab = ofUser(readCrontab(source.text, options.system ?? source.system), options.user)
  const plan = planned(crontab, options)
  if (plan.schedules.length + plan.problems.length === 0) throw new UsageError(`${source.name} has no entry in it`)
  tell(plan, crontab, { options, io })
  const isRefused = plan.problems.length > 0 && !options.skipUnsupported
  if (isRefused && !options.dryRun) {
    if (options.json) await answer(bodyOf(plan), { ...options, io }, () => '')
    throw refusal(plan)
  }
  // A preview needs no database; where none is named, everything in the file is new.
  const isAlone = options.dryRun === true && (await findWhere(options)) === undefined
  const backend = await (isAlone ? openEmptyBackend() : openBackend(options))
  await closing(backend, () => carryOver(backend, { plan, source }, { ...options, io }))
  if (isRefused) throw refusal(plan)
}

/** A worker is one user: what ran as root must not come to run as another, nor the other way round, because nobody looked. */
function ofUser(crontab: Crontab, user: string | undefined): Crontab {
  const users = [...new Set(crontab.entries.flatMap((entry) => entry.user ?? []))]
  if (user === undefined) {
    if (users.length <= 1) return crontab
    throw new UsageError(`its lines belong to several users: ${users.join(', ')}`, {
      hint: 'a worker runs as one: pass --user, and import the others each for a worker of their own',
    })
  }
  if (!crontab.system) throw new UsageError('--user is for files that name a user on each line')
  const entries = crontab.entries.filter((entry) => entry.user === user)
  if (entries.length > 0) return { ...crontab, entries }
  throw new UsageError(`no line belongs to ${user}`, { hint: `there are ${users.join(', ')}` })
}

function planned(crontab: Crontab, options: ImportCrontabOptions): ImportPlan {
  return planImport(crontab, {
    workspace: options.workspace ?? 'default',
    zone: zoneOf(options),
    prefix: options.keyPrefix ?? '',
    tag: options.tag ?? 'crontab',
    overlap: options.overlap ?? 'allow',
    catchUp: options.catchUp ?? 'none',
    job: options.job ?? null,
  })
}

const zoneOf = ({ tz }: ImportCrontabOptions): string => tz ?? localZone()

interface Ear {
  readonly options: ImportCrontabOptions
  readonly io: Io
}

/** As a crontab of the system looks when it is read as somebody's own. */
const hasUserInFront = ({ command }: Entry): boolean => /^[a-z_][\w-]*[ \t]+[~./]/.test(command)

function tell({ problems, notes }: ImportPlan, { system, entries }: Crontab, { options, io }: Ear): void {
  const say = (text: string): void => io.note(`  ${printable(text)}\n`)
  const [user] = entries.flatMap((each) => each.user ?? [])
  if (system && options.system === undefined) say('each line has a user; --no-system says that it has none')
  if (!system && options.system === undefined && entries.length > 0 && entries.every(hasUserInFront))
    say('each command begins with a bare word and then a path: if that is a user, pass --system')
  if (user !== undefined) say(`what ran as ${user} will run as whoever starts the worker`)
  if (options.tz === undefined && entries.some(({ settings }) => !settings.get('CRON_TZ')?.value))
    say(`times are those of ${localZone()}, the zone of this machine; --tz says another`)
  for (const { line, text } of notes) say(line === null ? text : `line ${line}: ${text}`)
  for (const { line, reason } of problems.slice(0, MAX_LISTED)) say(`✗ line ${line}: ${reason}`)
  if (problems.length > MAX_LISTED) say(`✗ and ${problems.length - MAX_LISTED} more`)
}

const refusal = ({ problems, schedules }: ImportPlan): UsageError =>
  new UsageError(
    `${problems.length} of ${problems.length + schedules.length} lines cannot be carried over; nothing was written`,
    { code: 'CHECK_FAILED', hint: 'mend them, or leave them out with --skip-unsupported' },
  )

interface Carried {
  readonly plan: ImportPlan
  readonly source: Source
}

async function carryOver(
  backend: Backend,
  { plan, source }: Carried,
  options: ImportCrontabOptions & { readonly io: Io },
): Promise<void> {
  const { dryRun = false, prune = false, force = false, workspace = 'default', tag = 'crontab', io } = options
  const declared = plan.schedules.map(({ line, body }) => ({ place: `${source.name}:${line} (${body.key})`, body }))
  const previews = await previewAll(backend, declared)
  const pruned = prune ? await surplus(backend, { tag, workspace }, previews) : []
  const applied: Planned = { declared, previews, pruned }
  const out = await outOf(plan, options)
  if (!dryRun) {
    if (out?.state === 'differs' && !force)
      throw new UsageError(`${out.file} is there and says something else; nothing was written`, {
        code: 'FILE_EXISTS',
        hint: 'pass --force to replace it, or --out with another name',
      })
    if (pruned.length > 0) await askYes(io, `removes ${namesOf(pruned)}`, { yes: options.yes ?? false })
    // The jobs come first: a job without a schedule does nothing, and a schedule without its job only waits.
    if (out && out.state !== 'same') await writeOut({ ...out, force: force && out.state === 'differs' })
    await write(backend, applied, io)
  }
  const changes = changesOf(applied)
  if (options.out === '-') io.exact(jobsFile(plan.jobs))
  else await answer(bodyOf(plan, { changes, out }), options, (_, view) => changesText(changes.filter(isChange), view))
  io.note(`${endingOf(changes, out, dryRun)}\n`)
}

interface Out {
  readonly file: string
  readonly text: string
  readonly state: OutState
}

/** Null when there is no file to write. */
async function outOf({ jobs }: ImportPlan, { out: file = JOBS_FILE, job }: ImportCrontabOptions): Promise<Out | null> {
  if (job !== undefined || file === '-' || jobs.length === 0) return null
  const text = jobsFile(jobs)
  return { file, text, state: await outState(file, text) }
}

interface Done {
  readonly changes: ReturnType<typeof changesOf>
  readonly out: Out | null
}

const bodyOf = ({ problems, notes, jobs }: ImportPlan, done?: Done): object => ({
  changes: done?.changes ?? [],
  jobs: jobs.map(({ name }) => name),
  jobsFile: done?.out?.file ?? null,
  unsupported: problems,
  notes,
})

function endingOf(changes: Done['changes'], out: Out | null, dryRun: boolean): string {
  const same = changes.filter(({ action }) => action === 'none').length
  const file = out === null ? '' : out.state === 'same' ? `${printable(out.file)} stays as it is, ` : ''
  const words = same > 0 ? `${same} unchanged, ` : ''
  if (dryRun) {
    const would = out === null || out.state === 'same' ? '' : out.state === 'new' ? 'would be new' : 'would differ'
    return `${file}${would === '' ? '' : `${printable(out!.file)} ${would}, `}${words}nothing was written`
  }
  const wrote = out === null || out.state === 'same' ? '' : `wrote ${printable(out.file)}, `
  return `${file}${wrote}${words}${changes.length - same} applied`
}
