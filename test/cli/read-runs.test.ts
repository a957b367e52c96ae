/** What people read of a run that failed, and of a job that no process has, by the built program. */
import { beforeAll, describe, expect, it } from 'vitest'
import { defineJob } from '../../src/index.ts'
import { coreOf } from '../../src/scheduler/core.ts'
import { publishJobs } from '../../src/scheduler/published-jobs.ts'
import { ensureBuilt } from '../built-package.ts'
import { onTerminal, openPlace } from './places.ts'
import { openStill } from './still-place.ts'

const MANY_PROCESSES = 240_000
beforeAll(ensureBuilt, MANY_PROCESSES)

describe('a run that failed', () => {
  it(
    'is shown with its message once and the frames of the user first, and its log ends with how it ended',
    async () => {
      await using place = await openPlace('a SQLite file')
      const { app, run } = place
      await app.schedules.upsert({ key: 'bad', cron: '0 0 1 1 *', job: 'failing' })
      await app.schedules.upsert({ key: 'good', cron: '0 0 1 1 *', job: 'plain' })
      const { id } = await app.schedules.trigger('default', 'bad')
      const { id: good } = await app.schedules.trigger('default', 'good')
      await expect.poll(async () => (await app.runs.get(id))?.state, { timeout: 60_000 }).toBe('failed')
      await expect.poll(async () => (await app.runs.get(good))?.state, { timeout: 60_000 }).toBe('succeeded')
      const table = onTerminal(['runs', 'get', id, ...place.where])
      const [piped, logs, said, json] = await Promise.all([
        run('runs', 'get', id),
        run('runs', 'logs', id),
        run('runs', 'logs', good),
        run('runs', 'logs', good, '--json'),
      ])
      expect(await table.ended).toBe(0)
      for (const text of [table.shown(), piped.out]) {
        expect(text.match(/it fails/g)).toHaveLength(1)
        expect(text).toMatch(/error\s+Error: it fails \\u\{1b\}\[31malways\r?\n\s+at .*places\.ts/)
        expect(text).not.toContain('"stack"')
      }
      expect(logs).toMatchObject({ code: 0, out: '' })
      expect(logs.err).toMatch(
        /^this run has no log lines\n {2}failed after \S+: attempt 1 of 1\n {2}Error: it fails .*\n {4}at .*places\.ts/,
      )
      expect(said.out).toContain('hello')
      expect(said.err).toMatch(/^ {2}succeeded after \S+( \S+)?: attempt 1 of 3\n$/)
      expect(json.err).toBe('')
    },
    MANY_PROCESSES,
  )
})

describe.each(['sqlite', 'server'] as const)('a job that no process has, on %s', (name) => {
  it(
    'is warned of, with what may be meant, by all that makes schedules or runs of it, which they make',
    async () => {
      await using place = await openStill(name)
      const store = await coreOf(place.app).store()
      await publishJobs(store, [
        defineJob({ name: 'nightly-report', run: () => {} }),
        defineJob({ name: 'mail', run: () => {} }),
      ])
      const create = ['schedules', 'create', '--cron', '0 2 * * *', '--job']
      const made = await place.run(...create, 'nightly-reprot', 'wrong')
      const [known, triggered, enqueued] = await Promise.all([
        place.run(...create, 'mail', 'right'),
        place.run('trigger', 'wrong'),
        place.ask<{ warnings: { code: string }[] }>('POST', '/runs', { job: 'mial' }),
      ])
      const warning =
        'no process that has started has the job "nightly-reprot"; its runs wait until one has it. ' +
        'Did you mean "nightly-report"? Known jobs: mail, nightly-report.'
      expect(made.code).toBe(0)
      expect(made.err).toContain(warning)
      expect(known.code).toBe(0)
      expect(known.err).not.toContain('no process')
      expect(triggered.code).toBe(0)
      expect(triggered.err).toContain(warning)
      expect(enqueued.warnings).toMatchObject([{ code: 'NO_PROCESS_FOR_JOB' }])
      const { data } = await place.ask<{ data: { key: string }[] }>('GET', '/schedules')
      expect(data.map(({ key }) => key)).toEqual(['right', 'wrong'])
    },
    MANY_PROCESSES,
  )
})
