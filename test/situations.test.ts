/** The short form of `npm run situations`, and the table behind it: what it judges, and the page that is written from it. */

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { RULE_KINDS } from '../src/observe/alert-rule.ts'
import { ensureBuilt, readText, root } from './built-package.ts'

interface Named {
  readonly kind: string
  readonly title: string | null
}
interface Row {
  readonly name: string
  readonly opens: readonly Named[]
  readonly may: readonly { readonly kind: string; readonly on?: string }[]
  readonly stays: readonly string[]
  readonly rules: readonly (readonly string[])[]
  readonly prometheus: readonly string[]
  readonly metrics: readonly { readonly series: string }[]
}
interface Sample {
  readonly phase: string
  readonly of: string
  readonly at: number
  readonly series: ReadonlyMap<string, number>
}
interface Seen {
  readonly alerts: readonly Record<string, unknown>[]
  readonly doctor: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly samples: readonly Sample[]
  readonly lines: readonly Readonly<Record<string, unknown>>[]
  readonly marks: Readonly<Record<string, number>>
  readonly exits: readonly unknown[]
  readonly audit: { readonly exit: number; readonly said: string }
}
interface Result {
  readonly name: string
  readonly differences: readonly string[]
}

const at = (path: string): Promise<unknown> => import(pathToFileURL(join(root, 'scripts', path)).href)
const { SITUATIONS, SHORT } = (await at('situations/table.mjs')) as Record<'SITUATIONS' | 'SHORT', readonly Row[]>
const { differences } = (await at('situations/judge.mjs')) as {
  differences(row: Row, seen: Seen, store: string): string[]
}
const { pageText } = (await at('situations/page.mjs')) as { pageText(rows: readonly Row[]): string }
const { runSituation, closingText } = (await at('situations.mjs')) as {
  runSituation(row: Row, store: string): Promise<Result>
  closingText(results: readonly (Pick<Result, 'differences'> & { readonly skipped?: string })[]): string
}

describe('a server and a worker on one SQLite file', () => {
  beforeAll(ensureBuilt, 120_000)

  it.concurrent.each(SHORT)(
    'tell the truth when the situation is: $name',
    async (row) => {
      expect((await runSituation(row, 'sqlite')).differences).toEqual([])
    },
    400_000,
  )
})

const row = (name: string): Row => SITUATIONS.find((each) => each.name === name)!
const START = Date.parse('2027-01-01T00:00:00Z')
const time = (seconds: number): string => new Date(START + seconds * 1000).toISOString()
const WELL: Readonly<Record<string, number>> = {
  up: 1,
  everytick_store_up: 1,
  everytick_orphaned_rows: 0,
  everytick_evaluation_lag_seconds: 0,
  everytick_queue_oldest_due_seconds: 0,
  everytick_double_fires_total: 0,
}

function seen(changes: Partial<Seen> = {}, figures: Readonly<Record<string, number>> = {}): Seen {
  const sample = (phase: string, of: string, more: Readonly<Record<string, number>> = {}): Sample => {
    return { phase, of, at: START, series: new Map(Object.entries({ ...WELL, ...more })) }
  }
  const samples = ['serve', 'worker'].flatMap((of) => [sample('during', of, figures), sample('after', of)])
  const doctor = { exit: 0, code: null, findings: [{ check: 'planner', level: 'ok', text: '1 scheduler alive' }] }
  return {
    ...{ alerts: [], doctor: { during: doctor, after: doctor }, samples, lines: [], exits: [] },
    ...{ marks: { during: START }, audit: { exit: 0, said: '' }, ...changes },
  }
}

const opened = (kind: string, more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> => {
  return { id: kind, kind, title: kind, state: 'resolved', openedAt: time(30), values: {}, ...more }
}
const told = (alert: string): Record<string, unknown> => ({
  ...{ of: 'serve', level: 'warn', message: `alert opened: ${alert}`, alert, at: START, time: time(31) },
})
const PAUSED = { 'everytick_queue_depth{queue="mail"}': 5 }

describe('the judge of situations', () => {
  const judged = (name: string, changes: Partial<Seen> = {}, figures = {}): string[] =>
    differences(row(name), seen(changes, figures), 'sqlite')

  it('finds nothing where all is as the table says', () => {
    expect(judged('queue paused', {}, PAUSED)).toEqual([])
  })

  it('finds an alert that is missing, one that is false, one before anything happened, one left open, and one not sent', () => {
    const figures = { everytick_workers_alive: 1, 'everytick_queue_oldest_due_seconds{queue="default"}': 60 }
    const doctor = {
      during: {
        exit: 5,
        code: null,
        findings: [
          { check: 'queues', level: 'wrong', text: 'no worker' },
          { check: 'alerts', level: 'wrong', text: 'open' },
        ],
      },
      after: seen().doctor.after!,
    }
    const samples = seen({}, { ...figures, up: 0 }).samples
    const found = (alerts: Record<string, unknown>[], lines = alerts.map(({ id }) => told(String(id)))): string[] =>
      judged('worker killed', { alerts, lines, doctor, samples })
    const both = [opened('no_worker'), opened('schedule_not_fired')]
    expect(found(both)).toEqual([])
    expect(found(both.slice(0, 1))).toEqual(['alert missing: schedule_not_fired'])
    expect(found([...both, opened('queue_depth')])).toEqual([expect.stringContaining('alert false: queue_depth')])
    const early = opened('no_success', { openedAt: time(-1) })
    expect(found([...both, early])).toEqual([expect.stringContaining('alert false: no_success')])
    const open = opened('no_success', { state: 'open' })
    expect(found([...both, open])).toEqual([
      'alert not resolved: no_success (no_success)',
      'doctor after: exit 0, all is well; expected exit 0, alerts warning',
    ])
    expect(found(both, [told('no_worker')])).toEqual(['channel was not told: schedule_not_fired'])
  })

  it('takes an alert that can open on one store only for false on the other', () => {
    const alerts = [opened('missed', { state: 'open' }), opened('planner_stalled')]
    const found = (store: string): string[] =>
      differences(row('disk full'), seen({ alerts, lines: alerts.map(({ id }) => told(String(id))) }), store)
    expect(found('sqlite')).toContainEqual(expect.stringContaining('alert false: planner_stalled'))
    expect(found('postgres').filter((each) => each.startsWith('alert'))).toEqual([])
  })

  it('finds a second alert where there must be one, and one that names something else', () => {
    const title = 'Schedule default/nightly failed'
    const values = { job: 'report', schedule: 'default/nightly', error: 'Error: rates are missing' }
    const once = (alerts: Record<string, unknown>[]): string[] =>
      judged('nightly fails once', { alerts, lines: alerts.map(({ id }) => told(String(id))) }).filter((each) =>
        each.includes('run_failed'),
      )
    const one = opened('run_failed', { title, values })
    expect(once([one])).toEqual([])
    expect(once([one, { ...one, id: 'second' }])).toEqual(['2 alerts run_failed, not one'])
    expect(once([{ ...one, values: { ...values, error: null } }])).toEqual([
      'alert run_failed says error null, not Error: rates are missing',
    ])
  })

  it('finds what doctor says besides or leaves out, and how it ended', () => {
    const stale = { exit: 5, code: null, findings: [{ check: 'planner', level: 'wrong', text: 'no process plans' }] }
    const [difference, ...others] = judged('queue paused', { doctor: { ...seen().doctor, during: stale } }, PAUSED)
    expect([difference, others]).toEqual([
      'doctor during: exit 5, planner wrong: no process plans; expected exit 0, all is well',
      [],
    ])
    const well = judged('planner killed').find((each) => each.startsWith('doctor during'))
    expect(well).toBe('doctor during: exit 0, all is well; expected exit 5, planner wrong')
  })

  it('finds that doctor does not name the cause', () => {
    const says = (text: string): Record<string, unknown> => ({
      ...{ exit: 5, code: null },
      findings: ['writes', 'planner', 'queues'].map((check) => ({ check, level: 'wrong', text })),
    })
    const of = (text: string): string[] =>
      judged('disk full', { doctor: { ...seen().doctor, during: says(text) } }).filter((each) =>
        each.startsWith('doctor during'),
      )
    expect(of('a.db cannot grow: its disk is full (0 KiB left)')).toEqual([])
    expect(of('a.db stayed locked')).toEqual([expect.stringContaining('cause /its disk is full/')])
  })

  it('finds a metric that shows something else, also where its labels are added up', () => {
    expect(judged('queue paused')).toEqual([
      'metric of serve during: everytick_queue_depth{queue="mail"} is absent; expected > 0',
    ])
    const aged = judged('queue paused', {}, { ...PAUSED, everytick_double_fires_total: 1 })
    expect(aged).toEqual(['metric of serve always: everytick_double_fires_total is 1, 0; expected = 0'])
  })

  it('finds a line that is missing, one that is no entry, one too many, and a loop that repeats itself', () => {
    const line = (seconds: number, level: string, message: string): Record<string, unknown> => {
      return { of: 'serve', level, message, at: START + seconds * 1000, time: time(seconds) }
    }
    const lines = (...all: Record<string, unknown>[]): string[] => judged('queue paused', { lines: all }, PAUSED)
    expect(lines(line(0, 'info', 'this process now plans schedules'))).toEqual([])
    expect(lines(line(0, 'unreadable', '    at Socket'))).toEqual([
      expect.stringContaining('unreadable:     at Socket'),
    ])
    expect(lines(line(0, 'warn', '3 occurrences were recorded as missed'))).toHaveLength(1)
    const away = judged('database away', {
      lines: [line(0, 'error', 'planner failed and is retried in 50 ms'), line(9, 'error', 'planner still fails: x')],
    })
    expect(away).toContain('log of serve: "planner" twice within 9000 ms')
    expect(away).toContain('log of worker has no info line /works again/')
  })

  it('finds a loop that says it works again while the database is away', () => {
    const line = { of: 'serve', level: 'info', message: 'streams works again', at: START + 2000, time: time(2) }
    const found = differences(row('database away'), seen({ lines: [line] }), 'postgres')
    expect(found).toContain(`log of serve says "streams works again" while the database is away, at ${time(2)}`)
  })

  it('finds a figure that was never there once it was over, and asks of one scrape only', () => {
    const figure = 'everytick_event_loop_delay_seconds'
    const ofFigure = (values: readonly number[]): string[] => {
      const after = values.map((value): Sample => {
        return {
          phase: 'after',
          of: 'worker',
          at: START,
          series: new Map(Object.entries({ ...WELL, [figure]: value })),
        }
      })
      const samples = [...seen().samples.filter(({ of }) => of !== 'worker'), ...after]
      return judged('worker frozen', { samples }).filter((each) => each.includes(figure))
    }
    expect(ofFigure([0.01, 62, 0.01])).toEqual([])
    expect(ofFigure([0.01, 0.02])).toEqual([`metric of worker soon after: ${figure} is 0.01, 0.02; expected > 4`])
  })

  it('ends with one line for all, which says how many differ and how many were left out', () => {
    const well = { differences: [] }
    expect(closingText([well, well])).toBe('2 situations: no alert missing, none false')
    expect(closingText([well, { ...well, skipped: 'no root' }])).toBe(
      '1 situations: no alert missing, none false (1 left out)',
    )
    expect(closingText([well, { differences: ['alert missing: no_worker'] }])).toBe(
      '1 of 2 situations differ from the table',
    )
  })

  it('finds an audit that does not add up, and a process that did not end in order', () => {
    expect(judged('queue paused', { audit: { exit: 5, said: '1 lost' } }, PAUSED)).toEqual([
      'audit ended with 5: 1 lost',
    ])
    const found = judged('restart after three minutes', { exits: [0, 1] })
    expect(found).toContain('process 1 ended with 1, not 0')
  })
})

describe('the table of situations', () => {
  it('names kinds of alerts, rules and metrics that there are', () => {
    const shipped = readText('deploy/prometheus-rules.yaml')
    const monitoring = readText('docs/operate/monitoring.md')
    for (const { opens, may, stays, rules, prometheus, metrics } of SITUATIONS) {
      for (const kind of [...[...opens, ...may].map((each) => each.kind), ...stays])
        expect(RULE_KINDS).toHaveProperty(kind)
      for (const [id = ''] of rules) expect(RULE_KINDS).toHaveProperty(id.replaceAll('-', '_'))
      for (const rule of prometheus) expect(shipped).toContain(`alert: ${rule}\n`)
      for (const { series } of metrics)
        if (series !== 'up') expect(monitoring).toContain(`\`${series.replace(/\{.*/, '')}\``)
    }
  })

  it('is what the page shows (if not: npm run situations -- --page)', () => {
    expect(SITUATIONS).toHaveLength(10)
    expect(readText('docs/operate/situations.md')).toBe(pageText(SITUATIONS))
  })
})
