/** Makes one run of a schedule by hand, beside its occurrences; it consumes none, and a pause does not stop it. */
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
  /** Instead of the schedule's own; checked by the job's schema where this app has the job. */
  readonly payload?: unknown
  /** A second trigger with the same key answers with the first run. */
  readonly idempotencyKey?: string
  /** `queue`: waits for runs of the schedule that are unfinished, unless its own `overlap` is `allow`. `allow`: runs beside them. */
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

/** The schedule's own unless another is given, which the job's schema must take. */
export async function payloadOf(core: Core, schedule: Schedule, given: unknown): Promise<Schedule['payload']> {
  if (given === undefined) return schedule.payload
  const of = `${scheduleName(schedule)} → job "${schedule.job}"`
  return storablePayload(jobOf(schedule.job, core.settings.jobs, of).schema, given, of)
}
