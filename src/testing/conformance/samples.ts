/** Schedules, runs and plans to try a store with, and the few steps that most promises begin with; what must hold is said elsewhere. */
import { randomUUID } from 'node:crypto'
import type { NonRun } from '../../plan/non-run.ts'
import { occurrenceId } from '../../plan/occurrence.ts'
import type { Plan } from '../../plan/plan.ts'
import type { Run } from '../../run/run.ts'
import type { Verdict } from '../../run/settle.ts'
import type { Schedule, ScheduleDefinition } from '../../schedule/schedule.ts'
import type { ClaimRequest, Settlement } from '../../store/contract/claims.ts'
import type { NewRun } from '../../store/contract/runs.ts'
import type { PutSchedule } from '../../store/contract/schedules.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Subject } from './harness.ts'

export const SECOND = 1000
export const MINUTE = 60_000
export const HOUR = 3_600_000
export const DAY = 86_400_000

/** Non-runs in words: what most promises leave aside. */
export const nonRun = (change: Pick<NonRun, 'fromAt' | 'toAt' | 'count'> & Partial<NonRun>): NonRun => ({
  state: 'missed',
  reason: 'window',
  detail: '',
  afterAt: null,
  ...change,
})

export const newId = (): string => randomUUID()

const policy = { retry: { attempts: 3, backoff: 'exponential', baseMs: 1000, maxMs: 60_000 } } as const

export function definitionOf(change: Partial<ScheduleDefinition> = {}): ScheduleDefinition {
  return {
    workspace: 'default',
    key: 'sync',
    timing: { kind: 'interval', everyMs: MINUTE, anchorAt: 0 },
    job: 'sync-crm',
    queue: 'default',
    payload: { account: 7 },
    priority: 5,
    policy,
    catchUp: { catchUp: 'latest', windowMs: DAY, limit: 100 },
    firing: { overlap: 'allow', jitter: null, maxRuns: null, concurrencyKey: null },
    description: 'keeps the CRM in step',
    tags: ['crm'],
    metadata: { team: 'sales' },
    source: 'code',
    ...change,
  }
}

/** What a caller asks for who saw no such schedule. */
export const putOf = (definition: ScheduleDefinition, change: Partial<PutSchedule> = {}): PutSchedule => ({
  id: newId(),
  definition,
  nextAt: null,
  watermarkAt: 0,
  from: null,
  by: 'ana',
  ...change,
})

/** A new schedule whose first occurrence is a minute from now, unless told otherwise. */
export async function putNew(
  store: Store,
  change: Partial<ScheduleDefinition> = {},
  cursor: Partial<PutSchedule> = {},
): Promise<Schedule> {
  const now = await store.now()
  const definition = definitionOf(change)
  await store.schedules.put([putOf(definition, { nextAt: now + MINUTE, watermarkAt: now, ...cursor })])
  return (await store.schedules.get(definition.workspace, definition.key))!
}

/** Puts the schedule that the caller saw again, with a change to its definition or to where its new timing begins. */
export function putAgain(schedule: Schedule, change: Partial<ScheduleDefinition>, at?: number): PutSchedule {
  const { workspace, key, timing, job, queue, payload, priority, policy, catchUp, firing } = schedule
  const { description, tags, metadata, source, revision, sinceAt } = schedule
  const words = { description, tags, metadata, source }
  const definition = { workspace, key, timing, job, queue, payload, priority, policy, catchUp, firing, ...words }
  const cursor = { nextAt: at ?? schedule.nextAt, watermarkAt: sinceAt }
  return putOf({ ...definition, ...change }, { ...cursor, from: revision })
}

/** The plan by which the next `count` minutes, from the cursor on, become runs. */
export function planFor(
  schedule: Pick<Schedule, 'id' | 'revision' | 'nextAt'>,
  count: number,
  change: Partial<Plan> = {},
): Plan {
  const first = schedule.nextAt!
  const runs = Array.from({ length: count }, (_, i) => first + i * MINUTE).map((at) => ({
    id: occurrenceId(schedule.id, at),
    scheduledAt: at,
    slotStartAt: at - MINUTE,
    dueAt: at,
    trigger: 'schedule' as const,
    overlap: 'allow' as const,
  }))
  return {
    scheduleId: schedule.id,
    revision: schedule.revision,
    expectedNextAt: first,
    nextAt: first + count * MINUTE,
    watermarkAt: first + (count - 1) * MINUTE,
    group: null,
    runs,
    nonRuns: [],
    resumes: false,
    ...change,
  }
}

export interface Planned {
  readonly schedule: Schedule
  /** Ids of its runs, in the order of their instants: a minute from now, and each minute after. */
  readonly ids: readonly string[]
  readonly firstAt: number
}

/** A schedule with its next occurrences already planned as runs. */
export async function plannedAhead(
  store: Store,
  count: number,
  change: Partial<ScheduleDefinition> = {},
): Promise<Planned> {
  const schedule = await putNew(store, change)
  const plan = planFor(schedule, count)
  await store.planning.record([plan])
  const stored = await store.schedules.get(schedule.workspace, schedule.key)
  return { schedule: stored!, ids: plan.runs.map((run) => run.id), firstAt: schedule.nextAt! }
}

export function newRun(change: Partial<NewRun> = {}): NewRun {
  return {
    id: newId(),
    workspace: 'default',
    job: 'send-digest',
    queue: 'default',
    trigger: 'enqueue',
    priority: 5,
    payload: { account: 't_42' },
    policy,
    schedule: null,
    slot: null,
    group: null,
    overlap: 'allow',
    due: { delayMs: 0 },
    idempotencyKey: null,
    ...change,
  }
}

export async function enqueued(store: Store, change: Partial<NewRun> = {}): Promise<string> {
  const [answer] = await store.runs.enqueue([newRun(change)])
  return answer!.id
}

export const wanting = (change: Partial<ClaimRequest> = {}): ClaimRequest => ({
  workerId: 'w1',
  leaseMs: MINUTE,
  wanted: [{ queue: 'default', limit: 100 }],
  ...change,
})

export async function claimed(store: Store, change: Partial<ClaimRequest> = {}): Promise<readonly Run[]> {
  return (await store.claims.claim(wanting(change))).runs
}

/** A run that is due at once and claimed at once. */
export async function running(store: Store, change: Partial<NewRun> = {}): Promise<Run> {
  const queue = `alone-${newId()}`
  await store.runs.enqueue([newRun({ queue, ...change })])
  const [run] = await claimed(store, { wanted: [{ queue: change.queue ?? queue, limit: 1 }] })
  return run!
}

export const SUCCEEDED: Verdict = { kind: 'final', state: 'succeeded', result: { sent: 3 } }
export const CANCELLED: Verdict = { kind: 'final', state: 'cancelled' }
export const FAILED: Verdict = {
  kind: 'final',
  state: 'failed',
  error: { name: 'TypeError', message: 'rate is undefined', stack: 'at close', code: 'E_RATE' },
}
export const againIn = (delayMs: number, counts = true): Verdict => ({
  kind: 'retry',
  delayMs,
  reason: counts ? 'retry' : 'released',
  counts,
  error: counts ? { name: 'Error', message: 'try again' } : null,
})

export const settlement = (run: Run, verdict: Verdict, change: Partial<Settlement> = {}): Settlement => ({
  id: run.id,
  fence: run.fence,
  claimId: run.claimId,
  workerId: run.workerId!,
  verdict,
  ...change,
})

export async function settled(store: Store, run: Run, verdict: Verdict): Promise<string> {
  return (await store.claims.settle([settlement(run, verdict)]))[0]!
}

/** The states of these runs, null where there is none. */
export async function statesOf(store: Store, ids: readonly string[]): Promise<(string | null)[]> {
  const states: (string | null)[] = []
  for (const id of ids) states.push((await store.history.run(id))?.state ?? null)
  return states
}

/** Four runs planned: the first is running, the second due, and two are still to come. */
export async function midway(subject: Subject): Promise<Planned> {
  const planned = await plannedAhead(subject.store, 4)
  await subject.advance(MINUTE)
  await claimed(subject.store)
  await subject.advance(MINUTE)
  return planned
}

/** The states of those four once what is still to come was retracted. */
export const RETRACTED = ['running', 'pending', null, null]
