/** `app.schedules.trigger`: creates one run of a schedule in addition to its occurrences, also while it is paused. */
import { checkKeys, readChoice, readStoredName } from '../options.ts'
import { groupOfSchedule } from '../plan/group.ts'
import type { Schedule } from '../schedule/schedule.ts'
import { jobOf, scheduleName } from '../schedule-definition.ts'
import type { NewRun } from '../store/contract/runs.ts'
import { addRuns } from './adding-runs.ts'
import { type Core, type InTransaction, readTx } from './core.ts'
import type { RunHandle } from './enqueue.ts'
import { storablePayload } from './payload.ts'

export interface TriggerOptions extends InTransaction {
  /** Replaces the payload of the schedule; validated by the job's schema if this app has the job. */
  readonly payload?: unknown
  /** A second trigger with the same key returns the first run. */
  readonly idempotencyKey?: string
  /** `queue`: waits for unfinished runs of the schedule, unless its own `overlap` is `allow`. `allow`: runs in parallel with them. */
  readonly overlap?: 'queue' | 'allow'
}

export async function triggerSchedule(
  core: Core,
  look: () => Promise<Schedule>,
  options: TriggerOptions,
): Promise<RunHandle> {
  checkKeys(options, ['payload', 'idempotencyKey', 'overlap', 'tx'], 'trigger()')
  const { idempotencyKey } = options
  const tx = readTx(options)
  const overlap = readChoice(options.overlap ?? 'queue', 'overlap', ['queue', 'allow'])
  const name = idempotencyKey === undefined ? null : readStoredName(idempotencyKey, 'idempotencyKey')
  const schedule = await look()
  const { id, key, revision, workspace, job, queue, priority, policy } = schedule
  const group = overlap === 'allow' ? null : groupOfSchedule(schedule)
  const run: NewRun = {
    ...{ id: core.newId(), workspace, job, queue, priority, policy },
    payload: await payloadOf(core, schedule, options.payload),
    trigger: 'manual',
    schedule: { id, key, revision },
    slot: null,
    group,
    overlap: group === null ? 'allow' : 'queue',
    due: { delayMs: 0 },
    idempotencyKey: name,
  }
  const [answer] = await addRuns(core, [run], tx)
  return answer!
}

/** The given payload, validated by the job's schema, or that of the schedule. */
export async function payloadOf(core: Core, schedule: Schedule, given: unknown): Promise<Schedule['payload']> {
  if (given === undefined) return schedule.payload
  const of = `${scheduleName(schedule)} → job "${schedule.job}"`
  return storablePayload(jobOf(schedule.job, core.settings.jobs, of).schema, given, of)
}
