/** The requests of the scheduler blueprint that this interface grew out of, on both stores: they work as they stand there. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { occurrenceId } from '../../src/plan/occurrence.ts'
import { DEFAULT_RETRY } from '../../src/run/retry.ts'
import { FIELD_ALIASES, STATUS_ALIASES } from '../../src/server/aliases.ts'
import { readText } from '../built-package.ts'
import { openStage, STORES, type Stage } from './stage.ts'

it('has every other name in the reference', () => {
  const page = readText('docs/reference/rest.md')
  for (const { name, is } of FIELD_ALIASES) expect(page).toMatch(new RegExp(`^\\| \`${name}\`.*\\| \`${is}\` \\|`, 'm'))
  for (const [word, is] of Object.entries(STATUS_ALIASES))
    expect(page).toContain(`| \`?status=${word}\` | \`?status=${is}\` |`)
})

let count = 0
const fresh = (): string => `seed-${++count}`

describe.each(STORES)('on %s', (store) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage(store)
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  it('creates a schedule paused, with who and why, and fires nothing of it', async () => {
    const { ask, server } = stage
    const key = fresh()
    const made = await ask('POST', '/schedules', { body: { key, every: '1s', job: 'plain', enabled: false } })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      nextFireAt: null,
      revision: 1,
      paused: { reason: 'created paused', by: 'admin', until: null },
    })
    const { planning } = await server.parts.core.store()
    const due = await planning.due({ lookaheadMs: 3_600_000, limit: 100 })
    expect(due.schedules.map((each) => each.key)).not.toContain(key)
    const resumed = await ask('POST', `/schedules/${made.body.id}/resume`)
    expect(resumed.body).toMatchObject({ paused: null, nextFireAt: expect.any(String) })
  })

  it('takes a reason and an end for the pause, and leaves a schedule that exists in its state with a warning', async () => {
    const { ask } = stage
    const path = `/schedules/by-key/default/${fresh()}`
    const body = { every: '1h', job: 'plain', paused: { reason: 'until the launch', until: '2099-01-01T00:00:00Z' } }
    const made = await ask('PUT', path, { body })
    expect([made.status, made.body.paused]).toEqual([
      201,
      expect.objectContaining({ reason: 'until the launch', until: '2099-01-01T00:00:00.000Z' }),
    ])
    expect((await ask('PUT', path, { body })).body.warnings).not.toContainEqual(
      expect.objectContaining({ code: 'PAUSE_KEPT' }),
    )
    const kept = await ask('PUT', path, { body: { ...body, paused: false } })
    expect(kept.body.paused).not.toBeNull()
    expect(kept.body.warnings).toContainEqual(expect.objectContaining({ code: 'PAUSE_KEPT' }))
    const both = await ask('POST', '/schedules', {
      body: { key: fresh(), every: '1h', job: 'plain', paused: true, enabled: false },
    })
    expect([both.status, both.body.detail]).toEqual([422, expect.stringContaining('both are given')])
  })

  /** As the blueprint writes it, with every optional field. */
  const asWritten = (name: string): object => ({
    name,
    cronExpression: '0 2 * * *',
    timezone: 'America/New_York',
    jobType: 'typed',
    jobPayload: { account: 'a_1' },
    maxRetries: 3,
    timeoutSeconds: 3600,
    overlapPolicy: 'cancel_previous',
    enabled: true,
  })

  it('creates what the blueprint asks for, answered in our names with a warning for each of its own', async () => {
    const name = fresh()
    const made = await stage.ask('POST', '/schedules', { body: asWritten(name) })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      key: name,
      cron: '0 2 * * *',
      timezone: 'America/New_York',
      job: 'typed',
      payload: { account: 'a_1' },
      retry: { attempts: 3 },
      timeout: '1h',
      overlap: 'cancel_previous',
      paused: null,
    })
    const texts = made.body.warnings
      .filter(({ code }: { code: string }) => code === 'ALIAS')
      .map(({ text }: { text: string }) => text)
    expect(texts).toEqual([
      '"name" is an alias of "key"',
      '"cronExpression" is an alias of "cron"',
      '"jobType" is an alias of "job"',
      '"jobPayload" is an alias of "payload"',
      '"maxRetries" is an alias of "retry.attempts"; it counts all attempts, including the first',
      '"timeoutSeconds" is an alias of "timeout"; a duration such as "3600s"',
      '"overlapPolicy" is an alias of "overlap"',
      '"enabled" is an alias of "paused"; "enabled": false is "paused": true',
    ])
  })

  it.each([{}, null])('takes %j for no payload where the job takes none, and refuses more', async (jobPayload) => {
    const asked = { ...asWritten(fresh()), jobType: 'plain' }
    const made = await stage.ask('POST', '/schedules', { body: { ...asked, jobPayload } })
    expect([made.status, made.body.payload]).toEqual([201, null])
    const run = await stage.ask('POST', '/runs', { body: { job: 'plain', payload: jobPayload } })
    expect([run.status, (await stage.ask('GET', `/runs/${run.body.id}`)).body.payload]).toEqual([201, null])
    const refused = await stage.ask('POST', '/schedules', { body: { ...asked, name: fresh(), jobPayload: { a: 1 } } })
    expect([refused.status, refused.body.code]).toEqual([422, 'PAYLOAD_INVALID'])
    const notRun = await stage.ask('POST', '/runs', { body: { job: 'plain', payload: { a: 1 } } })
    expect([notRun.status, notRun.body.code, notRun.body.errors[0].pointer]).toEqual([
      422,
      'PAYLOAD_INVALID',
      '/payload',
    ])
  })

  it('lists, pauses, resumes, triggers and reads executions as the blueprint does', async () => {
    const { ask } = stage
    const name = fresh()
    const { body: made } = await ask('POST', '/schedules', {
      body: { ...asWritten(name), jobType: 'plain', jobPayload: undefined },
    })
    const listed = await ask('GET', '/schedules?enabled=true&jobType=plain&limit=200')
    expect(listed.status).toBe(200)
    expect(listed.body.data.map(({ key }: { key: string }) => key)).toContain(name)
    expect(listed.body.warnings).toMatchObject([{ code: 'ALIAS', text: '"jobType" is an alias of "job"' }])
    expect((await ask('GET', '/schedules?enabled=true&jobType=typed&limit=200')).body.data).not.toContainEqual(
      expect.objectContaining({ key: name }),
    )
    expect((await ask('POST', `/schedules/${made.id}/pause`)).body.paused).not.toBeNull()
    expect((await ask('POST', `/schedules/${made.id}/resume`)).body.paused).toBeNull()
    const run = await ask('POST', `/schedules/${made.id}/trigger`)
    expect(run.status).toBe(202)
    const ids = async (query: string): Promise<string[]> =>
      (await ask('GET', `/schedules/${made.id}/executions?${query}`)).body.data.map(({ id }: { id: string }) => id)
    expect(await ids('limit=20&status=failed')).toEqual([])
    expect(await ids('limit=20&status=pending')).toEqual([run.body.id])
    expect(await ids('limit=20&status=dispatched')).toEqual([run.body.id])
    const leased = await ask('POST', `/runs/${run.body.id}/cancel`)
    expect(leased.status).toBe(200)
    const done = await ask('GET', `/schedules/${made.id}/executions?status=completed,failed`)
    expect(done.body.warnings).toMatchObject([{ code: 'ALIAS', text: 'status "completed" is an alias of "succeeded"' }])
  })

  it.each([
    [{ cronExpression: '0 2 * * *', cron: '0 3 * * *' }, '/cronExpression', 'is an alias of cron, and both are given'],
    [{ cron: '0 3 * * *', maxRetries: 3, retry: { attempts: 2 } }, '/maxRetries', 'both are given'],
    [{ cron: '0 3 * * *', timeoutSeconds: '1h' }, '/timeoutSeconds', 'expected number'],
    [{ cron: '0 3 * * *', enabled: 'no' }, '/enabled', 'expected boolean'],
    [{ cronExpression: '0 99 * * *' }, '/cronExpression', undefined],
    [{ cron: '0 3 * * *', timeout: 3600 }, '/timeout', '"3600s" for seconds'],
    [{ cron: '0 3 * * *', jitter: 300 }, '/jitter', '"300s" for seconds'],
  ])('names the spot as it was written: %j', async (fields, pointer, message) => {
    const { status, body } = await stage.ask('POST', '/schedules', { body: { key: fresh(), job: 'plain', ...fields } })
    expect(status).toBe(422)
    expect(body.errors[0].pointer).toBe(pointer)
    if (message !== undefined) expect(body.errors[0].message).toContain(message)
  })

  it('guesses for each unknown field on its own, and names all fields once', async () => {
    const body = { cron_expression: '0 2 * * *', timeZone: 'UTC', jobName: 'plain', catchup: 'all', color: 'red' }
    const refused = await stage.ask('POST', '/schedules', { body: { key: fresh(), job: 'plain', ...body } })
    expect(refused.status).toBe(422)
    expect(refused.body.errors.map(({ pointer, hint }: { pointer: string; hint?: string }) => [pointer, hint])).toEqual(
      [
        ['/cron_expression', 'did you mean cron?'],
        ['/timeZone', 'did you mean timezone?'],
        ['/jobName', 'did you mean job?'],
        ['/catchup', 'did you mean catchUp?'],
        ['/color', undefined],
      ],
    )
    expect(refused.body.hint).toContain('known fields: key, workspace, cron')
    const patched = await stage.ask('PATCH', `/schedules/${fresh()}`, { body: { enabled: false } })
    expect(patched.status).toBe(422)
  })

  it('says that a body is missing, and what it needs', async () => {
    const refused = await stage.ask('POST', '/schedules')
    expect([refused.status, refused.body.detail, refused.body.hint]).toEqual([
      422,
      'the request has no body',
      expect.stringContaining('required: key, job'),
    ])
  })

  it('describes its other names in the document, as deprecated', async () => {
    const { body } = await stage.ask('GET', '/openapi.json')
    const { NewSchedule, ScheduleChanges } = body.components.schemas
    expect(NewSchedule.properties.cronExpression).toMatchObject({ type: 'string', deprecated: true })
    expect(NewSchedule.properties.timeoutSeconds).toMatchObject({ type: 'integer', deprecated: true })
    expect(NewSchedule.allOf).toContainEqual({ anyOf: [{ required: ['key'] }, { required: ['name'] }] })
    expect(ScheduleChanges.properties).not.toHaveProperty('enabled')
    const list = body.paths['/schedules'].get.parameters
    expect(list).toContainEqual(expect.objectContaining({ name: 'jobType', in: 'query', deprecated: true }))
  })

  /** A schedule with occurrences that ran, that were skipped, and that are planned ahead; each a minute after the other. */
  async function lived(workspace = 'default'): Promise<{ id: string; now: number }> {
    const store = await stage.server.parts.core.store()
    const { body } = await stage.ask('POST', '/schedules', {
      body: { key: fresh(), workspace, every: '1m', job: 'plain' },
    })
    const now = await store.now()
    const firstAt = now - 10 * MINUTE
    const schedule = (await store.schedules.byId(body.id))!
    const run = (scheduledAt: number) => ({
      ...{ id: occurrenceId(schedule.id, scheduledAt), scheduledAt, slotStartAt: null, dueAt: scheduledAt },
      ...{ trigger: 'schedule' as const, overlap: 'allow' as const },
    })
    const range = (from: number, to: number, state: 'skipped' | 'missed') => ({
      ...{
        state,
        reason: state === 'missed' ? ('window' as const) : ('paused' as const),
        detail: 'by ana',
        afterAt: null,
      },
      ...{ fromAt: firstAt + from * MINUTE, toAt: firstAt + to * MINUTE, count: to - from + 1 },
    })
    // A schedule that was made a moment ago takes up no earlier occurrence, so its past is made as a plan of the future would be.
    const plan = {
      ...{
        scheduleId: schedule.id,
        revision: 1,
        expectedNextAt: schedule.nextAt!,
        nextAt: null,
        group: null,
        resumes: false,
      },
      watermarkAt: Math.max(schedule.watermarkAt, now + MINUTE),
      runs: [run(now + MINUTE)],
      nonRuns: [range(0, 2, 'missed'), range(5, 7, 'skipped')],
    }
    expect(await store.planning.record([plan])).toEqual(['recorded'])
    for (const minute of [3, 8])
      await store.runs.enqueue([
        {
          ...{ id: occurrenceId(schedule.id, firstAt + minute * MINUTE), workspace, job: 'plain', queue: 'default' },
          ...{
            trigger: 'backfill',
            priority: 5,
            payload: null,
            policy: { retry: DEFAULT_RETRY },
            group: null,
            overlap: 'allow',
          },
          ...{
            schedule: { id: schedule.id, key: schedule.key, revision: 1 },
            idempotencyKey: null,
            due: { delayMs: 0 },
          },
          slot: { scheduledAt: firstAt + minute * MINUTE, slotStartAt: null },
        },
      ])
    return { id: body.id, now: firstAt }
  }
  const rows = (data: readonly Row[], firstAt: number): string[] =>
    data.map((row) =>
      row.kind === 'run'
        ? `${row.state} ${Math.round((Date.parse(row.scheduledAt!) - firstAt) / MINUTE)}`
        : `${row.state} ${(Date.parse(row.from!) - firstAt) / MINUTE}-${(Date.parse(row.to!) - firstAt) / MINUTE}`,
    )

  it('lists what was skipped and missed among the runs, newest first, and what is to come only when asked for', async () => {
    const { ask } = stage
    const { id, now } = await lived()
    const all = async (query: string, limit = 50): Promise<string[]> => {
      const seen: Row[] = []
      for (let cursor = ''; ; ) {
        const { status, body } = await ask('GET', `/schedules/${id}/executions?limit=${limit}${query}${cursor}`)
        expect(status).toBe(200)
        expect(body.data.length).toBeLessThanOrEqual(limit)
        seen.push(...body.data)
        if (body.page.next === null) return rows(seen, now)
        cursor = `&cursor=${body.page.next}`
      }
    }
    const history = ['pending 8', 'skipped 5-7', 'pending 3', 'missed 0-2']
    expect(await all('')).toEqual(history)
    expect(await all('', 1)).toEqual(history)
    expect(await all('', 3)).toEqual(history)
    expect(await all('&status=skipped')).toEqual(['skipped 5-7'])
    expect(await all('&status=missed,skipped', 1)).toEqual(['skipped 5-7', 'missed 0-2'])
    expect(await all('&status=pending')).toEqual(['pending 11', 'pending 8', 'pending 3'])
    expect(await all('&status=running')).toEqual([])
    const { body } = await ask('GET', `/runs?schedule=${id}&status=skipped`)
    expect(body.data).toEqual([
      {
        ...{ kind: 'non_run', workspace: 'default', job: 'plain', queue: 'default', state: 'skipped', count: 3 },
        ...{ schedule: { id, key: expect.any(String) }, reason: 'paused', detail: 'by ana' },
        ...{ from: expect.any(String), to: expect.any(String), recordedAt: expect.any(String) },
      },
    ])
    expect((await ask('GET', '/runs?status=skipped&job=plain&limit=200')).body.data).toContainEqual(
      expect.objectContaining({ schedule: expect.objectContaining({ id }) }),
    )
    expect((await ask('GET', '/runs?status=skipped&job=typed')).body.data).toEqual([])
  })

  it('answers when a schedule last fired: the instant of its newest occurrence that has come and has a run', async () => {
    const { ask } = stage
    const { body: idle } = await ask('POST', '/schedules', { body: { key: fresh(), every: '1h', job: 'plain' } })
    expect(idle.lastFiredAt).toBeNull()
    const { id, now } = await lived()
    const lastFiredAt = new Date(now + 8 * MINUTE).toISOString()
    expect((await ask('GET', `/schedules/${id}`)).body).toMatchObject({ lastFiredAt })
    expect((await ask('GET', '/schedules?limit=200')).body.data).toContainEqual(
      expect.objectContaining({ id, lastFiredAt }),
    )
  })

  it('answers the executions and revisions of a schedule that was removed, to those whose it was', async () => {
    const { ask } = stage
    const { id, now } = await lived('a')
    expect((await ask('DELETE', `/schedules/${id}`)).status).toBe(204)
    expect((await ask('GET', `/schedules/${id}`)).status).toBe(404)
    for (const as of ['admin', 'a-read']) {
      const { status, body } = await ask('GET', `/schedules/${id}/executions`, { as })
      expect([status, rows(body.data, now)]).toEqual([200, ['pending 8', 'skipped 5-7', 'pending 3', 'missed 0-2']])
      expect((await ask('GET', `/schedules/${id}/revisions`, { as })).body.data).toMatchObject([{ kind: 'removed' }])
    }
    for (const path of [`/schedules/${id}/executions`, `/schedules/${id}/revisions`])
      expect((await ask('GET', path, { as: 'b-admin' })).status).toBe(404)
    expect((await ask('GET', `/runs?schedule=${id}&status=skipped`, { as: 'b-admin' })).body.data).toEqual([])
  })

  it('refuses a made-up cursor of a history', async () => {
    const { id } = await lived()
    for (const position of [
      { id },
      { a: { id: 'x' }, b: null },
      { a: null, b: { toAt: 1e300, scheduleId: id } },
      null,
    ]) {
      const cursor = Buffer.from(JSON.stringify(position)).toString('base64url')
      const { status, body } = await stage.ask('GET', `/schedules/${id}/executions?cursor=${cursor}`)
      expect([status, body.code]).toEqual([400, 'CURSOR_INVALID'])
    }
  })
})

interface Row {
  readonly kind: 'run' | 'non_run'
  readonly state: string
  readonly scheduledAt?: string
  readonly from?: string
  readonly to?: string
}

const MINUTE = 60_000
