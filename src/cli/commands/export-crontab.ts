/** `everytick export crontab`: writes stored schedules as a crontab, and reports what a crontab cannot express. */
import { homedir } from 'node:os'
import { coreOf } from '../../scheduler/core.ts'
import { spokenCommand } from '../../targets/command/spoken.ts'
import { systemClock } from '../../time/clock.ts'
import { answer, type JsonOption } from '../answer.ts'
import type { BackendOptions } from '../backend.ts'
import { loadConfig } from '../config-file.ts'
import { outState, writeOut } from '../crontab/source.ts'
import { type Exported, type ExportWishes, type StoredSchedule, writeCrontab } from '../crontab/write-crontab.ts'
import { type Io, withBackend } from '../io.ts'
import { listed } from '../listing.ts'
import { printable } from '../print.ts'
import { UsageError } from '../usage-error.ts'

export interface ExportCrontabOptions extends BackendOptions, JsonOption {
  readonly workspace?: string
  readonly config?: string
  readonly out?: string
  readonly force?: boolean
}

export async function exportCrontab(options: ExportCrontabOptions, io: Io): Promise<void> {
  const { workspace = 'default' } = options
  const programOf = await programs(options.config)
  const limit = Number.POSITIVE_INFINITY
  const { items } = await withBackend(options, (backend) =>
    listed<StoredSchedule>(backend, '/schedules', { query: { workspace }, limit }),
  )
  const exported = writeCrontab(items, { programOf, home: homedir(), now: systemClock.now() })
  await hand(exported, options, io)
  tell(exported, io)
}

/** The commands of the jobs in the configuration; the database stores only job names. */
async function programs(config: string | undefined): Promise<ExportWishes['programOf']> {
  const { options, app } = await loadConfig(config)
  const jobs = app ? [...coreOf(app).settings.ownJobs.values()] : (options.jobs ?? [])
  const known = new Map(jobs.map((job) => [job.name, spokenCommand(job)]))
  return (job) => known.get(job) ?? null
}

async function hand(exported: Exported, options: ExportCrontabOptions, io: Io): Promise<void> {
  const { out: file, json, force = false } = options
  if (file === undefined || file === '-')
    return json ? answer(bodyOf(exported), { json, io }, () => '') : io.exact(exported.text)
  const { text } = exported
  const state = await outState(file, text)
  if (state === 'differs' && !force)
    throw new UsageError(`${file} exists with different content; nothing was written`, {
      code: 'FILE_EXISTS',
      hint: 'pass --force to overwrite it, or --out with another name',
    })
  if (state !== 'same') await writeOut({ file, text, force: force && state === 'differs' })
  if (json) await answer(bodyOf(exported), { ...options, io }, () => '')
}

const bodyOf = ({ text, left, lost }: Exported): object => ({ crontab: text, left, lost })

function tell({ lines, left, lost }: Exported, io: Io): void {
  for (const { key, reason } of left) io.note(`  ✗ ${printable(`${key}: ${reason}`)}\n`)
  for (const { key, reason } of lost) io.note(`  ⚠ ${printable(`${key}: ${reason}`)}\n`)
  io.note(`${lines} ${lines === 1 ? 'line' : 'lines'}${left.length > 0 ? `, ${left.length} left out` : ''}\n`)
}
