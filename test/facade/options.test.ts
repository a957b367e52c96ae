/** What users type is checked before anything else happens, and a refusal names the thing and proposes a repair. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  type DeclaredSchedule,
  defineJob,
  type EverytickOptions,
  everytick,
  type Job,
  type JobOptions,
  type QueueOption,
  RetryAfter,
  schedule,
} from '../../src/index.ts'
import { readWork } from '../../src/job.ts'
import { DEFAULT_RETRY } from '../../src/run/retry.ts'
import type { RunPolicy } from '../../src/run/run.ts'
import { readSettings } from '../../src/scheduler/settings.ts'

const job = defineJob({ name: 'tidy', run: () => {} })
const good = { store: 'sqlite::memory:', jobs: [job] }

/** The code and the words of a refusal, or undefined. */
function refusal(call: () => unknown): Record<string, unknown> | undefined {
  try {
    call()
    return undefined
  } catch (error) {
    const { code, message, hint } = error as { code: string; message: string; hint: string }
    return { code, message, hint }
  }
}

const appWith = (options: object): unknown => everytick({ ...good, ...options } as EverytickOptions)
const settings = (options: Partial<EverytickOptions>): ReturnType<typeof readSettings> =>
  readSettings({ ...good, ...options })
const jobWith = (options: object): unknown =>
  defineJob({ name: 'a', run: () => {}, ...options } as JobOptions<undefined, void>)
const declared = (options: object): DeclaredSchedule =>
  schedule({ key: 'nightly', every: '1h', job, ...options } as Parameters<typeof schedule>[0])
const scheduleWith = (options: object): unknown => declared(options)

describe('an unknown option', () => {
  it.each([
    ['everytick', () => appWith({ shcedules: [] }), 'did you mean schedules?'],
    ['a job', () => jobWith({ timeuot: '5m' }), 'did you mean timeout?'],
    ['retry', () => jobWith({ retry: { atempts: 3 } }), 'did you mean attempts?'],
    ['a schedule', () => scheduleWith({ catchup: 'all' }), 'did you mean catchUp?'],
    ['retention', () => appWith({ retention: { histroy: '5d' } }), 'did you mean history?'],
    ['planner', () => appWith({ planner: { mod: 'all' } }), 'did you mean mode?'],
    ['a queue', () => appWith({ queues: { mail: { concurency: 2 } } }), 'did you mean concurrency?'],
    ['jitter', () => scheduleWith({ jitter: { max: '5m', per_: 'x' } }), 'did you mean per?'],
  ])('of %s is refused with what was probably meant', (_, call, hint) => {
    expect(refusal(call)).toMatchObject({ code: 'OPTION_UNKNOWN', hint })
  })

  it.each(['grace'])('that is planned, as %s, says not yet', (key) => {
    const found = refusal(() => scheduleWith({ [key]: 'x' }))
    expect(found).toMatchObject({
      code: 'OPTION_UNKNOWN',
      hint: expect.stringMatching(/^this version does not support it yet/),
    })
  })
})

describe('names', () => {
  it.each([
    ['', 'OPTION_INVALID'],
    ['x'.repeat(201), 'OPTION_INVALID'],
    ['tab\there', 'OPTION_INVALID'],
    ['nul\0', 'OPTION_INVALID'],
    ['half \ud83d', 'OPTION_INVALID'],
    [7, 'OPTION_INVALID'],
  ])('such as %j are refused for keys, workspaces, queues and jobs', (name, code) => {
    for (const call of [
      () => scheduleWith({ key: name }),
      () => scheduleWith({ workspace: name }),
      () => scheduleWith({ queue: name }),
      () => jobWith({ name }),
    ]) {
      expect(refusal(call)).toMatchObject({ code })
    }
  })

  it('may be any readable text up to 200 characters', () => {
    for (const key of ['x'.repeat(200), 'größe 🎉', `it's "quoted"; drop table`]) {
      expect(refusal(() => scheduleWith({ key }))).toBeUndefined()
    }
  })
})

describe('values', () => {
  it.each([
    ['priority', () => jobWith({ priority: 10 }), 'OPTION_INVALID'],
    ['priority', () => scheduleWith({ priority: 2.5 }), 'OPTION_INVALID'],
    ['timeout', () => jobWith({ timeout: '10 minutes' }), 'DURATION_INVALID'],
    ['timeout', () => jobWith({ timeout: 0 }), 'OPTION_INVALID'],
    ['attempts', () => jobWith({ retry: { attempts: 0 } }), 'OPTION_INVALID'],
    ['backoff', () => jobWith({ retry: { backoff: 'expnential' } }), 'OPTION_INVALID'],
    ['catchUp', () => scheduleWith({ catchUp: 'every' }), 'OPTION_INVALID'],
    ['catchUpWindow', () => scheduleWith({ catchUpWindow: -1 }), 'DURATION_INVALID'],
    ['metadata', () => scheduleWith({ metadata: 'x'.repeat(5000) }), 'JSON_TOO_LARGE'],
    ['metadata', () => scheduleWith({ metadata: 1n }), 'JSON_INVALID'],
    ['lease', () => appWith({ lease: '10ms' }), 'OPTION_INVALID'],
    ['queue', () => appWith({ queues: { mail: 0 } }), 'OPTION_INVALID'],
    ['queues', () => appWith({ queues: ['mail'] }), 'OPTION_INVALID'],
    ['concurrency', () => appWith({ queues: { mail: { concurrency: 0 } } }), 'OPTION_INVALID'],
    ['globalConcurrency', () => appWith({ queues: { mail: { globalConcurrency: 1.5 } } }), 'OPTION_INVALID'],
    ['perWorkspace', () => appWith({ queues: { mail: { perWorkspace: 0 } } }), 'OPTION_INVALID'],
    ['rateLimit.limit', () => appWith({ queues: { mail: { rateLimit: { per: '1m' } } } }), 'OPTION_INVALID'],
    ['rateLimit.per', () => appWith({ queues: { mail: { rateLimit: { limit: 5, per: 'x' } } } }), 'DURATION_INVALID'],
    ['retryBudget', () => appWith({ queues: { mail: { retryBudget: 20 } } }), 'OPTION_INVALID'],
    ['planner.mode', () => appWith({ planner: { mode: 'some' } }), 'OPTION_INVALID'],
    ['build', () => appWith({ build: 1.5 }), 'OPTION_INVALID'],
    ['build', () => appWith({ build: 'v2' }), 'INSTANT_INVALID'],
    ['removed', () => appWith({ removed: 'drop' }), 'OPTION_INVALID'],
    ['retention.orphans', () => appWith({ retention: { orphans: 'soon' } }), 'DURATION_INVALID'],
    ['overlap', () => scheduleWith({ overlap: 'wait' }), 'OPTION_INVALID'],
    ['jitter', () => scheduleWith({ jitter: '101%' }), 'OPTION_INVALID'],
    ['jitter', () => scheduleWith({ jitter: '-5%' }), 'OPTION_INVALID'],
    ['jitter', () => scheduleWith({ jitter: 'some' }), 'DURATION_INVALID'],
    ['jitter', () => scheduleWith({ jitter: true }), 'OPTION_INVALID'],
    ['jitter.per', () => scheduleWith({ jitter: { max: '5m', per: 'run' } }), 'OPTION_INVALID'],
    ['jitter.max', () => scheduleWith({ jitter: { per: 'schedule' } }), 'OPTION_INVALID'],
    ['jitter', () => scheduleWith({ every: undefined, at: '2027-01-04T09:00:00Z', jitter: '5%' }), 'OPTION_INVALID'],
    ['maxRuns', () => scheduleWith({ maxRuns: 0 }), 'OPTION_INVALID'],
    ['pauseOnFailure', () => scheduleWith({ pauseOnFailure: 0 }), 'OPTION_INVALID'],
    ['pauseOnFailure', () => jobWith({ pauseOnFailure: 3 }), 'OPTION_UNKNOWN'],
    ['delivery', () => jobWith({ delivery: 'exactly_once' }), 'OPTION_INVALID'],
    ['at_most_once', () => jobWith({ delivery: 'at_most_once', retry: { attempts: 2 } }), 'OPTION_INVALID'],
    ['at_most_once', () => scheduleWith({ delivery: 'at_most_once', retry: { attempts: 2 } }), 'OPTION_INVALID'],
    ['concurrencyKey', () => jobWith({ concurrencyKey: '' }), 'OPTION_INVALID'],
    ['concurrencyKey', () => scheduleWith({ concurrencyKey: 'a\nb' }), 'OPTION_INVALID'],
    ['startAt', () => scheduleWith({ startAt: 'tomorrow' }), 'INSTANT_INVALID'],
    ['endAt', () => scheduleWith({ endAt: '2027-01-04T09:00' }), 'INSTANT_INVALID'],
    ['logger', () => appWith({ logger: {} }), 'OPTION_INVALID'],
    ['payload', () => jobWith({ payload: { type: 'object' } }), 'OPTION_INVALID'],
    ['jobs', () => appWith({ jobs: [{ name: 'x' }] }), 'OPTION_INVALID'],
    ['schedules', () => appWith({ schedules: ['x'] }), 'OPTION_INVALID'],
    ['run', () => jobWith({ run: 'echo' }), 'OPTION_INVALID'],
  ])('of %s outside what is allowed are refused by name', (name, call, code) => {
    expect(refusal(call)).toMatchObject({ code, message: expect.stringContaining(name) })
  })

  it('may be durations as text or as milliseconds', () => {
    expect(defineJob({ name: 'a', timeout: 1500, run: () => {} }).policy.timeoutMs).toBe(1500)
    expect(defineJob({ name: 'a', timeout: '1.5s', run: () => {} }).policy.timeoutMs).toBe(1500)
    expect(new RetryAfter('2m').delayMs).toBe(120_000)
    expect(new RetryAfter(1.2).delayMs).toBe(2)
  })
})

describe('a job', () => {
  const policy = (options: object): RunPolicy => (jobWith(options) as Job).policy

  it('that runs at most once says so in the policy of its runs, and has one attempt', () => {
    expect(policy({ delivery: 'at_least_once' })).toEqual(policy({}))
    const once = { retry: { ...DEFAULT_RETRY, attempts: 1 }, timeoutMs: 3_600_000, delivery: 'at_most_once' }
    expect(policy({ delivery: 'at_most_once' })).toEqual(once)
    expect(policy({ delivery: 'at_most_once', retry: { attempts: 1 } })).toEqual(once)
  })

  it('has the default policy written out in what is stored, so that a later default changes no run that exists', () => {
    const retry = { attempts: 3, backoff: 'exponential', baseMs: 1000, maxMs: 3_600_000 }
    expect(policy({})).toEqual({ retry, timeoutMs: 3_600_000 })
    expect(policy({ retry: {} })).toEqual({ retry, timeoutMs: 3_600_000 })
    expect(readWork({}, 'x', jobWith({}) as Job).policy).toEqual({ retry, timeoutMs: 3_600_000 })
  })

  it('is overruled by its schedule', () => {
    const often = jobWith({ retry: { attempts: 7 } }) as Job
    const once = jobWith({ delivery: 'at_most_once' }) as Job
    expect(readWork({ delivery: 'at_most_once' }, 'x', often).policy).toMatchObject({
      delivery: 'at_most_once',
      retry: { attempts: 1 },
    })
    expect(readWork({ delivery: 'at_least_once' }, 'x', once).policy).toEqual({
      retry: DEFAULT_RETRY,
      timeoutMs: 3_600_000,
    })
    expect(readWork({ pauseOnFailure: 3 }, 'x', once).policy).toMatchObject({
      delivery: 'at_most_once',
      pauseOnFailure: 3,
    })
    expect(() => readWork({ retry: { attempts: 2 } }, 'x', once)).toThrow('delivery at_most_once allows one attempt')
  })

  it('has a concurrency key or none', () => {
    expect((jobWith({}) as Job).concurrencyKey).toBeNull()
    expect((jobWith({ concurrencyKey: 'crm' }) as Job).concurrencyKey).toBe('crm')
  })
})

describe('a schedule', () => {
  it('that names a job the app does not have is refused with the nearest one', () => {
    expect(refusal(() => appWith({ schedules: [schedule({ key: 'a', every: '5m', job: 'tidi' })] }))).toMatchObject({
      code: 'JOB_UNKNOWN',
      hint: 'did you mean tidy?',
    })
  })

  it('declared twice is refused', () => {
    const twice = [schedule({ key: 'a', every: '5m', job }), schedule({ key: 'a', every: '6m', job })]
    expect(refusal(() => appWith({ schedules: twice }))).toMatchObject({ code: 'DUPLICATE_KEY' })
  })
})

describe('an app', () => {
  it('refuses two jobs of one name', () => {
    expect(refusal(() => appWith({ jobs: [job, jobWith({ name: 'tidy' })] }))).toMatchObject({ code: 'JOB_DUPLICATE' })
  })

  it.each([
    ['./everytick.db', 'put sqlite: in front of the path'],
    ['postgre://localhost/db', 'did you mean postgres:?'],
    ['sqlite:', 'write it like sqlite:./everytick.db or postgres://user@host/database'],
    ['mysql://root:hunter2@localhost/db', 'write it like sqlite:./everytick.db or postgres://user@host/database'],
    ['postgres://user:hunter2@[bad/db', expect.stringContaining('percent-encoded')],
  ])('refuses the store %s and says how to write it, never repeating a password', (store, hint) => {
    const found = refusal(() => appWith({ store }))
    expect(found).toMatchObject({ code: 'STORE_URL_INVALID', hint })
    expect(JSON.stringify(found)).not.toContain('hunter2')
  })

  it('knows the events it has', () => {
    const app = everytick(good)
    expect(refusal(() => app.on('run.fialed' as 'run.failed', () => {}))).toMatchObject({
      code: 'OPTION_INVALID',
      hint: 'did you mean run.failed?',
    })
  })

  it('works every queue its jobs and schedules name when it is told nothing else', () => {
    const mail = defineJob({ name: 'mail', queue: 'mail', payload: z.string(), run: () => {} })
    const schedules = [schedule({ key: 'a', every: '5m', job, queue: 'slow' })]
    const ten = { concurrency: 10, limits: {}, retryBudget: null }
    expect(settings({ jobs: [job, mail], schedules }).queues).toEqual({ default: ten, mail: ten, slow: ten })
  })

  it.each<[QueueOption, object]>([
    [2, { concurrency: 2, limits: {}, retryBudget: null }],
    [{}, { concurrency: 10, limits: {}, retryBudget: null }],
    [
      { concurrency: 3, retryBudget: 0.2 },
      { concurrency: 3, limits: {}, retryBudget: 0.2 },
    ],
    [
      { concurrency: 2, globalConcurrency: 10, perWorkspace: 1, rateLimit: { limit: 100, per: '1m' } },
      {
        concurrency: 2,
        limits: { globalConcurrency: 10, perWorkspace: 1, rateLimit: { count: 100, perMs: 60_000 } },
        retryBudget: null,
      },
    ],
  ])('reads the queue %j', (queue, read) => {
    expect(settings({ queues: { big: queue } }).queues).toEqual({ big: read })
  })

  it.each([
    [{}, { planner: { mode: 'leader' }, build: null, removed: 'pause' }],
    [{ planner: {} }, { planner: { mode: 'leader' } }],
    [
      { planner: { mode: 'all' }, removed: 'delete' },
      { planner: { mode: 'all' }, removed: 'delete' },
    ],
    [{ build: 0 }, { build: 0 }],
    [{ build: 412 }, { build: 412 }],
    [{ build: new Date(1_800_000_000_000) }, { build: 1_800_000_000_000 }],
    [{ build: '2027-01-15T08:00:00Z' }, { build: 1_800_000_000_000 }],
    [{}, { retention: { orphansMs: 604_800_000 } }],
    [{ retention: { orphans: '1d' } }, { retention: { orphansMs: 86_400_000 } }],
    [{}, { retention: { endedMs: 2_592_000_000 } }],
    [{ retention: { endedSchedules: '1d' } }, { retention: { endedMs: 86_400_000 } }],
    [{ retention: { endedSchedules: 'off' } }, { retention: { endedMs: null } }],
  ])('reads %j', (options, read) => {
    expect(settings(options as Partial<EverytickOptions>)).toMatchObject(read)
  })
})
