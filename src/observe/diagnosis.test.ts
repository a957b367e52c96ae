import { describe, expect, it } from 'vitest'
import { type DiagnosisFacts, diagnose, type Finding } from './diagnosis.ts'

const STORE: NonNullable<DiagnosisFacts['store']> = {
  name: 'postgres app@db/app',
  version: '18.1',
  schemaVersion: 7,
  newestVersion: 7,
  claimPlan: 'index',
  pooler: false,
  exposedFiles: [],
  pool: { used: 1, size: 11, waiting: 0 },
  deadTuples: 0,
  oldestSnapshotMs: 0,
}

const WELL: DiagnosisFacts = {
  store: STORE,
  writes: { problem: null },
  sizes: { schedules: 3, quarantined: 0, liveRuns: 10 },
  skewMs: -12,
  planner: { lease: { holder: 'w1', leftMs: 3200 }, schedulers: 2, lagMs: 0 },
  queues: [{ name: 'default', ready: 4, paused: false, workers: 1 }],
  zoneData: { here: '2026a', nodes: [{ id: 'w1', tzdata: '2026a' }] },
  spikes: [],
  quarantined: [],
  deafChannels: [],
  failovers: [],
  alerts: { open: [], channels: 1 },
  watch: { lookedAgoMs: 4000 },
}

const alert = { id: 'a1', severity: 'warning', title: 'Runs start late', openedAt: Date.UTC(2026, 0, 1) } as const
const store = (more: Partial<typeof STORE>): Partial<DiagnosisFacts> => ({ store: { ...STORE, ...more } })
const planner = (more: Partial<NonNullable<DiagnosisFacts['planner']>>): Partial<DiagnosisFacts> => ({
  planner: { ...WELL.planner!, ...more },
})
const amiss = (facts: Partial<DiagnosisFacts>): Finding[] =>
  diagnose({ ...WELL, ...facts }).filter(({ level }) => level !== 'ok')

describe('a diagnosis', () => {
  it('of a fleet that is well has one good finding for each check, and nothing to mend', () => {
    const findings = diagnose(WELL)
    expect(findings.map(({ check }) => check)).toEqual([
      ...[
        'schema',
        'claim plan',
        'pool',
        'pooler',
        'dead rows',
        'snapshots',
        'writes',
        'clock',
        'planner',
        'queues',
        'zone data',
      ],
      ...['spikes', 'quarantine', 'channels', 'watch', 'alerts'],
    ])
    expect(findings.every(({ level, fix }) => level === 'ok' && fix === null)).toBe(true)
    expect(findings.find(({ check }) => check === 'clock')!.text).toBe('clock −12 ms against the database (limit 500)')
    expect(findings.find(({ check }) => check === 'planner')!.text).toBe(
      '2 schedulers alive, led by w1 (lease ends in 3s)',
    )
  })

  it('says nothing of what a database has not', () => {
    const facts = store({ pooler: null, pool: null, deadTuples: null, oldestSnapshotMs: null })
    const checks = diagnose({ ...WELL, ...facts }).map(({ check }) => check)
    expect(checks).not.toContain('pooler')
    expect(checks.slice(0, 4)).toEqual(['schema', 'claim plan', 'writes', 'clock'])
  })

  it.each<[string, Partial<DiagnosisFacts>, Finding['level'], RegExp, RegExp]>([
    ['an old schema', store({ schemaVersion: 6 }), 'wrong', /schema 6\/7/, /everytick migrate/],
    ['a schema of a newer version', store({ schemaVersion: 8 }), 'wrong', /newer version/, /upgrade/],
    [
      'a failover that may have lost writes',
      { failovers: [{ from: 0, to: 4000 }] },
      'warning',
      /1970-01-01T00:00:00.000Z to 1970-01-01T00:00:04.000Z may be missing/,
      /send again/,
    ],
    [
      'a database that takes no writes',
      { writes: { problem: { text: 'a.db cannot grow: its disk is full (0 KiB left)', fix: 'free some space' } } },
      ...(['wrong', /its disk is full/, /free some space/] as const),
    ],
    ['a claim that reads the whole table', store({ claimPlan: 'scan' }), 'wrong', /whole table/, /runs_pending/],
    ['a plan that nobody knows', store({ claimPlan: null }), 'warning', /does not report/, /again/],
    [
      'callers that wait',
      store({ pool: { used: 11, size: 11, waiting: 4 } }),
      ...(['warning', /4 callers wait for one of 11/, /max/] as const),
    ],
    [
      'files that others can open',
      store({ exposedFiles: ['/x/a b.db', '/x/y'] }),
      'warning',
      /other users.*\/x\/a b\.db/,
      /chmod 600 '\/x\/a b\.db' \/x\/y/,
    ],
    ['a pooler', store({ pooler: true }), 'warning', /transaction mode/, /listen: false/],
    ['dead rows', store({ deadTuples: 60_000 }), 'warning', /60,000 dead rows and 10/, /vacuum/],
    ['an old transaction', store({ oldestSnapshotMs: 600_000 }), 'warning', /open for 10m/, /pg_stat_activity/],
    ['a very old one', store({ oldestSnapshotMs: 7_200_000 }), 'wrong', /open for 2h/, /pg_terminate_backend/],
    ['a clock that is off', { skewMs: 501 }, 'warning', /\+501 ms/, /chrony/],
    ['a clock that is far off', { skewMs: -5001 }, 'wrong', /−5001 ms/, /chrony/],
    [
      'nobody who plans',
      planner({ lease: null, schedulers: 0 }),
      'wrong',
      /no process plans/,
      /everytick serve.*worker --plan/,
    ],
    [
      'a lease that ended',
      planner({ lease: { holder: 'w1', leftMs: -9 }, schedulers: 0 }),
      'wrong',
      /no process plans/,
      /serve/,
    ],
    ['planning that is behind', planner({ lagMs: 61_000 }), 'wrong', /1m1s behind; 2 schedulers/, /log/],
    [
      'a queue without a worker',
      { queues: [{ name: 'month end', ready: 41, paused: false, workers: 0 }] },
      ...(['wrong', /queue "month end": 41 ready, no worker/, /everytick worker --queues 'month end'$/] as const),
    ],
    [
      'zone data that differs',
      { zoneData: { here: '2026a', nodes: [{ id: 'w3', tzdata: '2025b' }] } },
      ...(['warning', /here 2026a, w3 2025b/, /same version/] as const),
    ],
    [
      'a spike',
      { spikes: [{ at: Date.UTC(2026, 0, 1), fires: 812, jitter: '10m', sample: 't_1/digest' }] },
      ...(['warning', /00:00:00 UTC spike: 812 fires/, /schedules edit t_1\/digest --jitter 10m$/] as const),
    ],
    [
      'a schedule that was set aside',
      { quarantined: [{ workspace: 'a', key: 'x', code: 'CRON_INVALID' }] },
      ...(['wrong', /"a\/x" cannot be planned: CRON_INVALID$/, /schedules get a\/x/] as const),
    ],
    [
      'a channel that reaches nobody',
      { deafChannels: [{ id: 'c1', name: 'ops', error: 'answered 410' }] },
      ...(['wrong', /"ops" does not deliver: answered 410/, /channels test c1/] as const),
    ],
    ['a fleet without a channel', { alerts: { open: [], channels: 0 } }, 'warning', /no alert channel/, /channels add/],
    [
      'an open alert',
      { alerts: { open: [alert], channels: 1 } },
      'warning',
      /^Runs start late, since 2026-/,
      /ack a1$/,
    ],
    [
      'a critical one',
      { alerts: { open: [{ ...alert, severity: 'critical' }], channels: 1 } },
      ...(['wrong', /Runs start late/, /alerts ls/] as const),
    ],
    [
      'alerts that no server opens',
      { watch: { lookedAgoMs: null } },
      ...(['warning', /no server has checked .* yet/, /everytick serve/] as const),
    ],
    [
      'alerts that no server opens any more',
      { watch: { lookedAgoMs: 185_000 } },
      ...(['warning', /for 3m5s: alerts neither open nor resolve/, /everytick serve/] as const),
    ],
  ])('complains of %s, and names what mends it', (_, facts, level, text, fix) => {
    const found = amiss(facts)
    expect(found).toMatchObject([{ level }])
    expect(found[0]!.text).toMatch(text)
    expect(found[0]!.fix).toMatch(fix)
  })

  it.each<[string, Partial<DiagnosisFacts>]>([
    ['a queue at rest', { queues: [{ name: 'q', ready: 41, paused: true, workers: 0 }] }],
    ['a queue with nothing due', { queues: [{ name: 'q', ready: 0, paused: false, workers: 0 }] }],
    [
      'many dead rows and many live ones',
      { ...store({ deadTuples: 60_000 }), sizes: { ...WELL.sizes!, liveRuns: 9000 } },
    ],
    ['schedulers that all plan, without a lease', planner({ lease: null })],
    ['a server that starts again', { watch: { lookedAgoMs: 100_000 } }],
  ])('does not complain of %s', (_, facts) => {
    expect(amiss(facts)).toEqual([])
  })

  it('only warns that nobody plans where there is nothing to plan', () => {
    const sizes = { schedules: 0, quarantined: 0, liveRuns: 0 }
    expect(amiss({ sizes, ...planner({ lease: null, schedulers: 0 }) })).toMatchObject([{ level: 'warning' }])
  })

  it('says which parts could not be checked, and goes on with the others', () => {
    const gone = { store: null, planner: null, queues: null, zoneData: null, spikes: null, quarantined: null }
    const found = amiss({ ...gone, deafChannels: null, alerts: null, watch: null })
    expect(found).toHaveLength(9)
    expect(found.every(({ level, text }) => level === 'warning' && text.endsWith('could not be checked'))).toBe(true)
  })

  it('names a few of many, and counts the others', () => {
    const many = Array.from({ length: 20 }, (_, i) => ({ workspace: 'a', key: `k${i}`, code: 'CRON_INVALID' }))
    const found = amiss({ quarantined: many, sizes: { ...WELL.sizes!, quarantined: 1200 } })
    expect(found).toHaveLength(5)
    expect(found.at(-1)!.text).toContain('(and 1,195 more)')
  })

  it('writes a command that a shell cannot take for another', () => {
    const [found] = amiss({ queues: [{ name: `a'; rm -rf x`, ready: 1, paused: false, workers: 0 }] })
    expect(found!.fix).toBe(`everytick worker --queues 'a'\\''; rm -rf x'`)
  })
})
