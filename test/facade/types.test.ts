/** Holds what the compiler infers for users: payloads, results and options come from the job value alone. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Client, PoolClient } from 'pg'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import {
  type Delivery,
  defineConfig,
  defineJob,
  type Everytick,
  type ExcludeOption,
  type Executor,
  everytick,
  type JitterOption,
  type JobContext,
  type Overlap,
  type PayloadSchema,
  type ScheduleView,
  type SyncStep,
  schedule,
} from '../../src/index.ts'

const digest = defineJob({
  name: 'send-digest',
  payload: z.object({ accountId: z.string(), locale: z.enum(['en', 'de']).default('en') }),
  async run({ accountId, locale }, ctx) {
    expectTypeOf(accountId).toEqualTypeOf<string>()
    expectTypeOf(locale).toEqualTypeOf<'en' | 'de'>()
    expectTypeOf(ctx).toEqualTypeOf<JobContext>()
    return { sent: 3, at: new Date(0), note: undefined as string | undefined }
  },
})
const vacuum = defineJob({
  name: 'vacuum',
  run(ctx) {
    expectTypeOf(ctx).toEqualTypeOf<JobContext>()
  },
})
const count = defineJob({
  name: 'count',
  payload: z.object({ of: z.string() }).optional(),
  run: (payload) => payload?.of.length ?? 0,
})

/** Only its types are looked at; nothing here is run. */
const typed = (_: (app: Everytick) => unknown): void => {}

describe('a job', () => {
  it('takes any Standard Schema', () => {
    expectTypeOf<StandardSchemaV1<{ a: string }, { a: number }>>().toExtend<
      PayloadSchema<{ a: string }, { a: number }>
    >()
    expectTypeOf(z.object({ a: z.string() })).toExtend<PayloadSchema>()
  })

  it('refuses what is not a schema, and a handler that expects another payload', () => {
    // @ts-expect-error: a plain object is no schema
    typed(() => defineJob({ name: 'x', payload: { a: 1 }, run: () => {} }))
    // @ts-expect-error: the schema says text
    typed(() => defineJob({ name: 'x', payload: z.string(), run: (_: number) => {} }))
  })
})

describe('an enqueue', () => {
  it("takes the schema's input, where defaults may be left out", () => {
    typed((app) => app.enqueue(digest, { accountId: 't_1' }, { delay: '1h' }))
    typed((app) => app.enqueue(count))
    typed((app) => app.enqueue(digest, { accountId: 't_1' }, { concurrencyKey: 'crm' }))
    // @ts-expect-error: the payload is missing
    typed((app) => app.enqueue(digest))
    // @ts-expect-error: a number is no text
    typed((app) => app.enqueue(digest, { accountId: 1 }))
    // @ts-expect-error: the locale is not among the choices
    typed((app) => app.enqueue(digest, { accountId: 't_1', locale: 'fr' }))
    // @ts-expect-error: an unknown option
    typed((app) => app.enqueue(digest, { accountId: 't_1' }, { delai: '1h' }))
  })

  it('takes no payload argument for a job without a schema', () => {
    typed((app) => app.enqueue(vacuum))
    typed((app) => app.enqueue(vacuum, { priority: 9 }))
    // @ts-expect-error: there is no payload to pass
    typed((app) => app.enqueue(vacuum, undefined, { priority: 9 }))
    typed((app) => app.enqueueMany(vacuum, [{}, { delay: 5 }]))
    typed((app) => app.enqueueMany(digest, [{ payload: { accountId: 't_1' }, delay: 5 }]))
    // @ts-expect-error: each needs a payload
    typed((app) => app.enqueueMany(digest, [{ delay: 5 }]))
  })

  it("takes a user's own Postgres client for its transaction", () => {
    expectTypeOf<PoolClient>().toExtend<Executor>()
    expectTypeOf<Client>().toExtend<Executor>()
  })

  it('answers with the type of the result as it is stored', () => {
    typed(async (app) => {
      const handle = await app.enqueue(digest, { accountId: 't_1' })
      expectTypeOf(handle.result?.sent).toEqualTypeOf<number | undefined>()
      const run = await app.runs.wait(handle)
      expectTypeOf(run.result).toEqualTypeOf<{ sent: number; at: string; note: string | undefined } | null>()
      expectTypeOf((await app.runs.wait(await app.enqueue(vacuum))).result).toEqualTypeOf<null>()
      expectTypeOf((await app.runs.wait(await app.enqueue(count))).result).toEqualTypeOf<number | null>()
    })
  })
})

describe('a schedule', () => {
  it('needs a payload exactly when its job has a schema', () => {
    typed(() => schedule({ key: 'a', cron: '0 9 * * *', timezone: 'UTC', job: digest, payload: { accountId: 't_1' } }))
    typed(() => schedule({ key: 'a', every: '5m', job: vacuum }))
    typed(() => schedule({ key: 'a', at: new Date(0), job: 'by-name', payload: { anything: true } }))
    // @ts-expect-error: the payload is missing
    typed(() => schedule({ key: 'a', cron: '0 9 * * *', job: digest }))
    // @ts-expect-error: there is no payload to pass
    typed(() => schedule({ key: 'a', every: '5m', job: vacuum, payload: {} }))
    // @ts-expect-error: the payload is missing here too
    typed((app) => app.schedules.upsert({ key: 'a', cron: '0 9 * * *', job: digest }))
  })

  it('has exactly one timing, and only a cron one has a zone', () => {
    // @ts-expect-error: no timing
    typed(() => schedule({ key: 'a', job: vacuum }))
    // @ts-expect-error: two timings
    typed(() => schedule({ key: 'a', every: '5m', cron: '* * * * *', job: vacuum }))
    // @ts-expect-error: an interval has no zone
    typed(() => schedule({ key: 'a', every: '5m', timezone: 'UTC', job: vacuum }))
  })
})

describe('the policies of a schedule', () => {
  const base = { key: 'a', every: '5m', job: vacuum } as const

  it('are the words there are, and no others', () => {
    typed(() => schedule({ ...base, overlap: 'queue_one', jitter: '10%', delivery: 'at_most_once', maxRuns: 5 }))
    typed(() => schedule({ ...base, jitter: { max: '5m', per: 'occurrence' }, pauseOnFailure: 3, concurrencyKey: 'k' }))
    // @ts-expect-error: no such overlap
    typed(() => schedule({ ...base, overlap: 'wait' }))
    // @ts-expect-error: no such delivery
    typed(() => schedule({ ...base, delivery: 'exactly_once' }))
    // @ts-expect-error: jitter is of a schedule or of an occurrence
    typed(() => schedule({ ...base, jitter: { max: '5m', per: 'run' } }))
    // @ts-expect-error: a job cannot be paused by its failures
    typed(() => defineJob({ name: 'x', pauseOnFailure: 3, run: () => {} }))
  })

  it('bound it by instants, dates, ranges and expressions', () => {
    typed(() => schedule({ ...base, startAt: new Date(0), endAt: '2027-01-01T00:00:00Z' }))
    typed(() => schedule({ ...base, exclude: ['2026-12-25', '* * * * 0', { from: '2026-12-24', to: new Date(0) }] }))
    typed(() => schedule({ ...base, exclude: [{ cron: '* * * * 0', timezone: 'UTC' }] }))
    // @ts-expect-error: half a range
    typed(() => schedule({ ...base, exclude: [{ from: '2026-12-24' }] }))
    // @ts-expect-error: a list, even of one
    typed(() => schedule({ ...base, exclude: '2026-12-25' }))
  })

  it('may be several timings instead of one', () => {
    const any = [{ cron: '0 9 * * *', timezone: 'UTC' }, { every: '5m' }, { at: new Date(0) }] as const
    typed(() => schedule({ key: 'a', any, job: vacuum }))
    // @ts-expect-error: one or several, not both
    typed(() => schedule({ key: 'a', any, cron: '0 9 * * *', job: vacuum }))
    // @ts-expect-error: each is one timing
    typed(() => schedule({ key: 'a', any: [{ cron: '0 9 * * *', every: '5m' }], job: vacuum }))
    // @ts-expect-error: the payload is missing here too
    typed(() => schedule({ key: 'a', any, job: digest }))
  })

  it('are shown with the types they were written in', () => {
    expectTypeOf<ScheduleView['overlap']>().toEqualTypeOf<Overlap>()
    expectTypeOf<ScheduleView['delivery']>().toEqualTypeOf<Delivery>()
    expectTypeOf<ScheduleView['jitter']>().toExtend<JitterOption>()
    expectTypeOf<ScheduleView['exclude']>().toEqualTypeOf<readonly ExcludeOption[]>()
    expectTypeOf<ScheduleView['nextDueAt']>().toEqualTypeOf<Date | null>()
  })
})

describe('a configuration', () => {
  const hourly = schedule({ key: 'hourly', every: '1h', job: vacuum })

  it('is what an app is made of, where it names a store and jobs', () => {
    const config = defineConfig({ store: 'sqlite::memory:', jobs: [vacuum, digest], schedules: [hourly] })
    typed(() => everytick(config))
    typed(() => everytick(defineConfig({ store: 'sqlite::memory:', jobs: [], queues: { mail: { concurrency: 2 } } })))
    const plain = { key: 'plain', cron: '0 9 * * *', timezone: 'UTC', job: 'vacuum' } as const
    typed(() => everytick(defineConfig({ store: 'sqlite::memory:', jobs: [vacuum], schedules: [plain, hourly] })))
    const elsewhere = defineConfig({ jobs: [vacuum], schedules: [hourly] })
    typed(() => everytick({ ...elsewhere, store: 'sqlite::memory:' }))
    // @ts-expect-error: no store is named
    typed(() => everytick(elsewhere))
    // @ts-expect-error: a mistyped option
    typed(() => defineConfig({ store: 'sqlite::memory:', jobs: [], shedules: [] }))
    // @ts-expect-error: a mistyped option within an option
    typed(() => defineConfig({ jobs: [], retention: { histroy: '1d' } }))
  })

  it('declares the same schedules, as plain objects too', async () => {
    const plain = { key: 'plain', every: '1h', job: 'vacuum' } as const
    await using app = everytick(defineConfig({ store: 'sqlite::memory:', jobs: [vacuum], schedules: [hourly, plain] }))
    const { plan } = await app.sync({ dryRun: true })
    expect(plan.map(({ key }) => key)).toEqual(['hourly', 'plain'])
  })
})

describe('an app', () => {
  it('takes queues as numbers or with their limits', () => {
    const good = { store: 'sqlite::memory:', jobs: [vacuum] }
    typed(() => everytick({ ...good, queues: { default: 10, mail: { concurrency: 2, retryBudget: 0.2 } } }))
    typed(() => everytick({ ...good, queues: { mail: { rateLimit: { limit: 100, per: '1m' } } }, build: new Date(0) }))
    typed(() => everytick({ ...good, planner: { mode: 'all' }, removed: 'delete', retention: { orphans: '1d' } }))
    // @ts-expect-error: a rate needs a time
    typed(() => everytick({ ...good, queues: { mail: { rateLimit: { limit: 100 } } } }))
    // @ts-expect-error: no such mode
    typed(() => everytick({ ...good, planner: { mode: 'some' } }))
  })

  it('answers a sync with its plan', () => {
    typed(async (app) => {
      const { plan, outdated } = await app.sync({ dryRun: true })
      expectTypeOf(plan).toEqualTypeOf<readonly SyncStep[]>()
      expectTypeOf(outdated).toEqualTypeOf<boolean>()
    })
    // @ts-expect-error: no such option
    typed((app) => app.sync({ dry: true }))
  })
})

describe('a listener', () => {
  it('is given the event of its name', () => {
    typed((app) =>
      app.on('run.failed', ({ run, error }) => expectTypeOf([run.id, error.message]).toEqualTypeOf<string[]>()),
    )
    // @ts-expect-error: no such event
    typed((app) => app.on('run.exploded', () => {}))
  })
})
