/** What commands take for an id, by the built program: the beginning of one, or a name, on a SQLite file, on Postgres and over a server. */
import { beforeAll, describe, expect, it } from 'vitest'
import { coreOf } from '../../src/scheduler/core.ts'
import { openAlert } from '../../src/server/alerting/alerts.ts'
import { newRun } from '../../src/testing/conformance/samples.ts'
import { ensureBuilt } from '../built-package.ts'
import { openStill, type StillPlace } from './still-place.ts'

beforeAll(ensureBuilt, 240_000)

const LONE = '0190a0f0-0001-7000-8000-000000000001'
const TWINS = ['0190b1f0-0000-7000-8000-000000000001', '0190b1f0-0000-7000-8000-000000000002'] as const
const HOOK = { kind: 'webhook', url: 'http://127.0.0.1:9/', secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}` }

const MANY_PROCESSES = 240_000

/** Enough of an id to tell it from the others that a test makes in the same minute. */
const most = (id: string): string => id.slice(0, 28)

async function runsIn({ app }: StillPlace): Promise<void> {
  const store = await coreOf(app).store()
  await store.runs.enqueue([LONE, ...TWINS].map((id) => newRun({ id, job: 'mail' })))
}

const made = async ({ ask }: StillPlace, path: string, body: object): Promise<string> =>
  (await ask<{ id: string }>('POST', path, body)).id

describe.each(['sqlite', 'postgres', 'server'] as const)('an id on %s', (name) => {
  it(
    'may be the beginning of one, or a name, for every command that takes one',
    async () => {
      await using place = await openStill(name)
      const { app, ask } = place
      const core = coreOf(app)
      const store = await core.store()
      await runsIn(place)
      await ask('POST', '/schedules', { key: 'nightly', cron: '0 2 * * *', job: 'mail' })
      const backfillOf = async (): Promise<string> => {
        const schedule = await ask<{ id: string }>('GET', '/schedules/by-key/default/nightly')
        return made(place, `/schedules/${schedule.id}/backfills`, { from: '2026-01-01', to: '2026-01-03' })
      }
      const bulk = (): Promise<string> =>
        made(place, '/operations', { action: 'runs.cancel', filter: { job: 'other' } })
      const rule = { ruleId: 'default-missed', kind: 'missed', severity: 'warning', workspace: '' } as const
      const alert = { ...rule, subject: 'x', title: 'x was missed', values: {}, openedAt: 0 }
      const { id: alerted } = (await openAlert(store.documents, alert, core.newId))!.alert
      await store.workers.reportPresence({
        ...{ id: 'mail-web7-41-ab12', host: 'web7', pid: 41, tzdata: '2026a', busy: 1, roles: ['worker'], queues: {} },
      })
      const channel = await made(place, '/channels', { name: 'ops', config: HOOK })
      await made(place, '/channels', { name: 'spare', config: HOOK })
      await made(place, '/api-keys', { name: 'ci', scope: 'read' })
      const other = await made(place, '/api-keys', { name: 'old', scope: 'read' })
      const [watched, cancelled] = [await bulk(), await bulk()]
      await ask('POST', `/operations/${watched}/cancel`)
      const backfill = await backfillOf()
      const listed = await place.run('backfill', 'ls', '--json', 'id')
      expect(JSON.parse(listed.out)).toEqual([{ id: backfill }])
      const rules = await place.run('alert-rules', 'set', 'default-failed', '--channel', 'ops', '--json')
      const ends = await place.runAll(
        ['runs', 'get', '0190a0f0', '--json', 'id'],
        ['runs', 'logs', '0190A0F00001'],
        ['runs', 'cancel', '0190b1f0-0000-7000-8000-00000000000', '--dry-run'],
        ['runs', 'cancel', TWINS[0].slice(0, -1), TWINS[1]],
        ['runs', 'cancel', '0190a0', LONE],
        ['ops', 'cancel', most(cancelled)],
        ['backfill', 'cancel', most(backfill)],
        ['alerts', 'ack', most(alerted)],
        ['alerts', 'mute', most(alerted)],
        ['channels', 'test', 'ops'],
        ['channels', 'rm', 'spare'],
        ['keys', 'roll', 'ci'],
        ['keys', 'revoke', most(other)],
        ['workers', 'drain', 'mail-web7'],
        ['ops', 'watch', most(watched), '--json', 'id'],
      )
      const said = ends.map(
        ({ code, out, err }) =>
          `${code} ${out.split('\t')[0]!.split('\n')[0]}${code === 0 ? '' : ` ${err.split('\n')[0]}`}`,
      )
      expect(said).toEqual([
        `0 {"id":"${LONE}"}`,
        '0 ',
        expect.stringMatching(/^2 {2}ID_AMBIGUOUS: /),
        expect.stringMatching(/^2 {2}ID_AMBIGUOUS: /),
        `0 cancelled ${LONE}`,
        expect.stringMatching(new RegExp(`^0 (cancelled ${cancelled} after|${cancelled} is done)`)),
        `0 cancelled ${backfill}`,
        '0 acknowledged: x was missed',
        '0 muted: x was missed',
        expect.stringMatching(/^1 {2}NOT_DELIVERED: ops /),
        '0 removed the channel spare',
        expect.stringMatching(/^0 evt_ro_/),
        '0 revoked old',
        '0 draining mail-web7-41-ab12: it claims no more runs, and its running runs continue',
        expect.stringMatching(new RegExp(`^1 \\{"id":"${watched}"\\} .*"CANCELLED"`)),
      ])
      expect(JSON.parse(rules.out)).toMatchObject({ id: 'default-failed-in-a-row', channels: [channel] })
      expect((await place.run('keys', 'revoke', 'ci')).out).toBe('revoked ci\n')
    },
    MANY_PROCESSES,
  )

  it(
    'that fits several things is refused with what it may mean, and none of them is touched',
    async () => {
      await using place = await openStill(name)
      await runsIn(place)
      for (const workspace of ['a', 'b']) await made(place, '/channels', { name: 'ops', workspace, config: HOOK })
      const [runs, json, channels, none, short, strange, noName] = await place.runAll(
        ['runs', 'cancel', LONE, '0190b1'],
        ['runs', 'cancel', '0190b1', '--json'],
        ['channels', 'rm', 'ops'],
        ['runs', 'get', '0190c'],
        ['runs', 'get', '019'],
        ['runs', 'get', 'nightly'],
        ['keys', 'revoke', 'nobody'],
      )
      expect(runs).toMatchObject({ code: 2, out: '' })
      expect(runs!.err).toMatch(/^ID_AMBIGUOUS: "0190b1" matches more than one run:\n/)
      for (const id of TWINS) expect(runs!.err).toMatch(new RegExp(`^ {2}${id} {2}mail {2}pending {2}20`, 'm'))
      expect(runs!.err).not.toContain(LONE)
      expect(JSON.parse(json!.err)).toMatchObject({ code: 'ID_AMBIGUOUS', hint: 'give more digits of the id' })
      expect(channels!.err).toMatch(/matches more than one channel:\n {2}\S{36} {2}ops {2}b\n {2}\S{36} {2}ops {2}a\n/)
      expect([none, short, strange, noName].map((end) => [end!.code, end!.err.split('\n')[0]])).toEqual([
        [3, 'NOT_FOUND: no run has an id that begins with "0190c"'],
        [2, 'USAGE: "019" is too short for an id'],
        [3, 'NOT_FOUND: no run has an id that begins with "nightly"'],
        [3, 'NOT_FOUND: no key has the name or the id "nobody"'],
      ])
      const { data } = await place.ask<{ data: { state: string }[] }>('GET', '/runs')
      expect(data.map(({ state }) => state)).toEqual(['pending', 'pending', 'pending'])
    },
    MANY_PROCESSES,
  )
})

describe('ids in a table on a terminal', () => {
  it('are as long as it takes to name each, and whole in a pipe', async () => {
    await using place = await openStill('sqlite')
    await runsIn(place)
    const [table, filtered, piped] = await Promise.all([
      place.onTerminal('runs', 'ls'),
      place.onTerminal('runs', 'ls', 'job:mail', '--limit', '1'),
      place.run('runs', 'ls'),
    ])
    const firsts = (out: string): string[] =>
      out.split('\n').flatMap((line) => /^(?: {2})?([\da-f-]{8,36})\s/.exec(line)?.[1] ?? [])
    expect(firsts(table.out)).toEqual([TWINS[1], TWINS[0], LONE])
    expect(firsts(filtered.out)).toEqual([TWINS[1].slice(0, 18)])
    expect(firsts(piped.out)).toEqual([TWINS[1], TWINS[0], LONE])
    await place.run('runs', 'cancel', TWINS[1])
    const store = await coreOf(place.app).store()
    await store.documents.put({
      kind: 'channel',
      id: LONE,
      workspace: '',
      state: '',
      data: { name: 'log', enabled: true, config: { kind: 'log' } },
      from: 0,
    })
    const [channels, keys] = [await place.onTerminal('channels', 'ls'), await place.onTerminal('keys', 'ls')]
    expect(keys.out).toBe('  none\n')
    expect(firsts(channels.out)).toEqual(['0190a0f0'])
  })
})
