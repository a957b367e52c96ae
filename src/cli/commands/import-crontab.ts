/** `everytick import crontab`: creates schedules and a jobs file from a crontab; validates everything before it writes anything. */
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
/** Maximum number of problems listed. */
const MAX_LISTED = 50

export async function importCrontab(file: string, options: ImportCrontabOptions, io: Io): Promise<void> {
  if (options.json && options.out === '-') throw new UsageError('--json and --out - exclude each other')
  if (options.job !== undefined && options.out !== undefined)
    throw new UsageError('--job and --out exclude each other: --job writes no jobs file')
  timeZone(zoneOf(options))
  const source = await readSource(file)
  const crontab = ofUser(readCrontab(source.text, options.system ?? source.system), options.user)
  const plan = planned(crontab, options)
  if (plan.schedules.length + plan.problems.length === 0) throw new UsageError(`${source.name} contains no entries`)
  tell(plan, crontab, { options, io })
  const isRefused = plan.problems.length > 0 && !options.skipUnsupported
  if (isRefused && !options.dryRun) {
    if (options.json) await answer(bodyOf(plan), { ...options, io }, () => '')
    throw refusal(plan)
  }
  // A preview works without a database: then everything in the file is new.
  const isAlone = options.dryRun === true && (await findWhere(options)) === undefined
  const backend = await (isAlone ? openEmptyBackend() : openBackend(options))
  await closing(backend, () => carryOver(backend, { plan, source }, { ...options, io }))
  if (isRefused) throw refusal(plan)
}

/** A worker runs as one user, so importing lines of several users would silently run commands as the wrong user. */
function ofUser(crontab: Crontab, user: string | undefined): Crontab {
  const users = [...new Set(crontab.entries.flatMap((entry) => entry.user ?? []))]
  if (user === undefined) {
    if (users.length <= 1) return crontab
    throw new UsageError(`the crontab has lines of several users: ${users.join(', ')}`, {
      hint: 'a worker runs as one user: pass --user, and import the lines of each other user for a separate worker',
    })
  }
  if (!crontab.system) throw new UsageError('--user is only for crontabs that name a user on each line')
  const entries = crontab.entries.filter((entry) => entry.user === user)
  if (entries.length > 0) return { ...crontab, entries }
  throw new UsageError(`no line has the user ${user}`, { hint: `users in this file: ${users.join(', ')}` })
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

/** Detects a system crontab that is read as a user's crontab. */
const hasUserInFront = ({ command }: Entry): boolean => /^[a-z_][\w-]*[ \t]+[~./]/.test(command)

function tell({ problems, notes }: ImportPlan, { system, entries }: Crontab, { options, io }: Ear): void {
  const say = (text: string): void => io.note(`  ${printable(text)}\n`)
  const [user] = entries.flatMap((each) => each.user ?? [])
  if (system && options.system === undefined) say('each line seems to name a user; if it does not, pass --no-system')
  if (!system && options.system === undefined && entries.length > 0 && entries.every(hasUserInFront))
    say('each command starts with a word and a path: if the word is a user, pass --system')
  if (user !== undefined) say(`commands that ran as ${user} will run as the user who starts the worker`)
  if (options.tz === undefined && entries.some(({ settings }) => !settings.get('CRON_TZ')?.value))
    say(`times are in ${localZone()}, the time zone of this machine; use --tz for another`)
  for (const { line, text } of notes) say(line === null ? text : `line ${line}: ${text}`)
  for (const { line, reason } of problems.slice(0, MAX_LISTED)) say(`✗ line ${line}: ${reason}`)
  if (problems.length > MAX_LISTED) say(`✗ and ${problems.length - MAX_LISTED} more`)
}

const refusal = ({ problems, schedules }: ImportPlan): UsageError =>
  new UsageError(
    `${problems.length} of ${problems.length + schedules.length} lines cannot be imported; nothing was written`,
    { code: 'CHECK_FAILED', hint: 'fix these lines, or skip them with --skip-unsupported' },
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
      throw new UsageError(`${out.file} exists with different content; nothing was written`, {
        code: 'FILE_EXISTS',
        hint: 'pass --force to overwrite it, or --out with another name',
      })
    if (pruned.length > 0) await askYes(io, `removes ${namesOf(pruned)}`, { yes: options.yes ?? false })
    // Write the jobs first: a job without a schedule does nothing, but runs of a schedule without its job wait.
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

/** Null when the command writes no jobs file. */
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
  const file = out === null ? '' : out.state === 'same' ? `${printable(out.file)} is up to date, ` : ''
  const words = same > 0 ? `${same} unchanged, ` : ''
  if (dryRun) {
    const would =
      out === null || out.state === 'same' ? '' : out.state === 'new' ? 'would be created' : 'would be overwritten'
    return `${file}${would === '' ? '' : `${printable(out!.file)} ${would}, `}${words}nothing was written`
  }
  const wrote = out === null || out.state === 'same' ? '' : `wrote ${printable(out.file)}, `
  return `${file}${wrote}${words}${changes.length - same} applied`
}
