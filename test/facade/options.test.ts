/** What users type is checked before anything else happens, and a refusal names the thing and proposes a repair. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineJob, type EverytickOptions, everytick, type JobOptions, RetryAfter, schedule } from '../../src/index.ts'

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
const jobWith = (options: object): unknown =>
  defineJob({ name: 'a', run: () => {}, ...options } as JobOptions<undefined, void>)
const scheduleWith = (options: object): unknown =>
  schedule({ key: 'nightly', every: '1h', job, ...options } as Parameters<typeof schedule>[0])

describe('an unknown option', () => {
  it.each([
    ['everytick', () => appWith({ shcedules: [] }), 'did you mean schedules?'],
    ['a job', () => jobWith({ timeuot: '5m' }), 'did you mean timeout?'],
    ['retry', () => jobWith({ retry: { atempts: 3 } }), 'did you mean attempts?'],
    ['a schedule', () => scheduleWith({ catchup: 'all' }), 'did you mean catchUp?'],
    ['retention', () => appWith({ retention: { histroy: '5d' } }), 'did you mean history?'],
  ])('of %s is refused with what was probably meant', (_, call, hint) => {
    expect(refusal(call)).toMatchObject({ code: 'OPTION_UNKNOWN', hint })
  })

  it.each(['overlap', 'jitter', 'delivery', 'startAt', 'pauseOnFailure'])(
    'that is planned, as %s, says not yet',
    (key) => {
      const found = refusal(() => scheduleWith({ [key]: 'x' }))
      expect(found).toMatchObject({ code: 'OPTION_UNKNOWN', hint: expect.stringMatching(/^not yet/) })
    },
  )
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
    ['logger', () => appWith({ logger: {} }), 'OPTION_INVALID'],
    ['payload', () => jobWith({ payload: { type: 'object' } }), 'OPTION_INVALID'],
    ['jobs', () => appWith({ jobs: [{ name: 'x' }] }), 'OPTION_INVALID'],
    ['schedules', () => appWith({ schedules: [{ key: 'x', every: '5m', job }] }), 'OPTION_INVALID'],
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

describe('a schedule', () => {
  it.each([
    [{ cron: '0 25 * * *' }, 'CRON_RANGE', 'schedule "nightly": hour "25" is outside 0–23'],
    [{ cron: '0 0 30 2 *' }, 'CRON_NEVER', 'schedule "nightly"'],
    [{ cron: '0 9 * * *', timezone: 'EST' }, 'TIMEZONE_UNKNOWN', 'EST'],
    [{ every: '50ms' }, 'DURATION_INVALID', '50ms'],
    [{ at: '2027-01-04 09:00' }, 'INSTANT_INVALID', 'schedule "nightly": at'],
    [{ at: new Date(8.64e15) }, 'INSTANT_INVALID', 'too far away'],
    [{}, 'OPTION_INVALID', '0 of cron, every and at'],
    [{ every: '5m', at: '2027-01-04T09:00:00Z' }, 'OPTION_INVALID', '2 of cron, every and at'],
    [{ every: '5m', timezone: 'Europe/Berlin' }, 'OPTION_INVALID', 'belong to cron'],
  ])('with %j is refused with %s', (when, code, words) => {
    expect(refusal(() => scheduleWith({ every: undefined, ...when }))).toMatchObject({
      code,
      message: expect.stringContaining(words),
    })
  })

  it('keeps the canonical name of its zone', () => {
    const declared = schedule({ key: 'a', cron: '0 9 * * *', timezone: 'europe/berlin', job })
    expect(declared.timing).toEqual({ kind: 'cron', cron: '0 9 * * *', timezone: 'Europe/Berlin' })
  })

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

  it('works every queue its jobs and schedules name when it is told nothing else', async () => {
    const { readSettings } = await import('../../src/scheduler/settings.ts')
    const mail = defineJob({ name: 'mail', queue: 'mail', payload: z.string(), run: () => {} })
    const schedules = [schedule({ key: 'a', every: '5m', job, queue: 'slow' })]
    expect(readSettings({ ...good, jobs: [job, mail], schedules }).queues).toEqual({ default: 10, mail: 10, slow: 10 })
  })
})
