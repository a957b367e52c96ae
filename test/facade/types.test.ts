/** Holds what the compiler infers for users: payloads, results and options come from the job value alone. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Client, PoolClient } from 'pg'
import { describe, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import {
  defineJob,
  type Everytick,
  type Executor,
  type JobContext,
  type PayloadSchema,
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

describe('a listener', () => {
  it('is given the event of its name', () => {
    typed((app) =>
      app.on('run.failed', ({ run, error }) => expectTypeOf([run.id, error.message]).toEqualTypeOf<string[]>()),
    )
    // @ts-expect-error: no such event
    typed((app) => app.on('run.exploded', () => {}))
  })
})
