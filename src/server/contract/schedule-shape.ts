/** The shape of a schedule over HTTP: timing, job, policies. The scheduler parses the values, such as cron expressions. */
import { z } from 'zod'
import { withAliases } from '../aliases.ts'
import {
  AnyJson,
  component,
  DurationText,
  durationError,
  Id,
  Instant,
  InstantText,
  Name,
  plainText,
  proseText,
  TimeoutText,
  Warnings,
} from './vocabulary.ts'

const Dst = z.strictObject({
  gap: z.enum(['shift', 'skip']).optional(),
  fold: z.enum(['first', 'second', 'both']).optional(),
})
const Rule = withAliases(
  z.strictObject({
    cron: z.string().max(300).optional(),
    timezone: z.string().max(100).optional(),
    dst: Dst.optional(),
    every: DurationText.optional(),
    at: InstantText.optional(),
  }),
)
const Retry = z.strictObject({
  attempts: z.int().min(1).max(1000).optional(),
  backoff: z.enum(['exponential', 'fixed']).optional(),
  base: DurationText.optional(),
  max: DurationText.optional(),
})
const Exclude = z.union([
  z.string().max(300),
  z.strictObject({ from: InstantText, to: InstantText }),
  z.strictObject({ cron: z.string().max(300), timezone: z.string().max(100).optional() }),
])
const Jitter = z.union(
  [DurationText, z.strictObject({ max: DurationText, per: z.enum(['schedule', 'occurrence']).optional() })],
  { error: durationError },
)

/** The fields that decide when a schedule fires. */
export const TIMING = {
  ...Rule.shape,
  any: z.array(Rule).max(10).optional(),
  startAt: InstantText.optional(),
  endAt: InstantText.optional(),
  exclude: z.array(Exclude).max(100).optional(),
}
const WORK = {
  job: Name,
  payload: AnyJson.optional(),
  queue: Name.optional(),
  priority: z.int().min(0).max(9).optional(),
  timeout: TimeoutText.optional(),
  retry: Retry.optional(),
  delivery: z.enum(['at_least_once', 'at_most_once']).optional(),
  concurrencyKey: Name.optional(),
  pauseOnFailure: z.int().min(1).max(1000).optional(),
}
export const POLICIES = {
  overlap: z.enum(['skip', 'queue', 'queue_one', 'cancel_previous', 'allow']).optional(),
  jitter: Jitter.optional(),
  maxRuns: z.int().min(1).max(1_000_000_000).optional(),
  catchUp: z.enum(['none', 'latest', 'all']).optional(),
  catchUpWindow: DurationText.optional(),
  catchUpLimit: z.int().min(1).max(1_000_000).optional(),
}
const ABOUT = {
  description: proseText(0, 2000).optional(),
  tags: z.array(Name).max(50).optional(),
  metadata: AnyJson.optional(),
}
const DEFINITION = { ...TIMING, ...WORK, ...POLICIES, ...ABOUT }

/** Initial state of a new schedule; an existing schedule keeps its state. */
const BEGINNING = {
  paused: z
    .union([z.boolean(), z.strictObject({ reason: plainText(0, 500).optional(), until: InstantText.optional() })])
    .optional(),
}

export const NewSchedule = component(
  'NewSchedule',
  withAliases(z.strictObject({ key: Name, workspace: Name.optional(), ...DEFINITION, ...BEGINNING })),
)
export const Definition = component('ScheduleDefinition', withAliases(z.strictObject({ ...DEFINITION, ...BEGINNING })))
const CHANGES = Object.fromEntries(
  Object.entries(DEFINITION).map(([name, schema]) => [name, (schema as z.ZodType).nullish()]),
) as { [Field in keyof typeof DEFINITION]: z.ZodOptional<z.ZodNullable<z.ZodType>> }
export const Changes = component(
  'ScheduleChanges',
  withAliases(z.strictObject({ ...CHANGES, force: z.boolean().optional() })),
)

export const ScheduleBody = component(
  'Schedule',
  z.looseObject({
    id: Id,
    workspace: z.string(),
    key: z.string(),
    when: z.string().nullable(),
    job: z.string(),
    queue: z.string(),
    /** Absent for keys with scope `read`. */
    payload: AnyJson.optional(),
    source: z.string(),
    tags: z.array(z.string()),
    revision: z.int(),
    createdAt: Instant,
    createdBy: z.string(),
    updatedAt: Instant,
    updatedBy: z.string(),
    paused: z.object({ reason: z.string(), by: z.string(), at: Instant, until: Instant.nullable() }).nullable(),
    quarantined: z.object({ code: z.string(), message: z.string(), at: Instant }).nullable(),
    nextFireAt: Instant.nullable(),
    nextDueAt: Instant.nullable(),
    /** The nominal instant of the newest past occurrence that became a run. */
    lastFiredAt: Instant.nullable(),
    /** The latest runs, newest first; only in lists with `?last=`. */
    last: z.array(z.object({ id: Id, state: z.string(), scheduledAt: Instant })).optional(),
    warnings: Warnings.optional(),
  }),
)
