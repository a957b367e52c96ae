import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import type { EngineEvent } from '../../observe/engine-event.ts'
import type { Run } from '../../run/run.ts'
import { createCounters } from '../../scheduler/counters.ts'
import { registerCounters } from './process-figures.ts'

const retry = { attempts: 3, backoff: 'fixed', baseMs: 0, maxMs: 0 } as const
const runOf = (change: Partial<Run> = {}): Run => ({
  ...{
    id: 'r',
    workspace: 'default',
    job: 'mail',
    queue: 'default',
    state: 'running',
    trigger: 'schedule',
    priority: 5,
  },
  ...{
    schedule: null,
    scheduledAt: null,
    slotStartAt: null,
    dueAt: 1000,
    group: null,
    overlap: 'allow',
    readiness: 'ready',
  },
  ...{
    createdAt: 0,
    payload: { secret: 'marker-payload' },
    policy: { retry },
    attempt: 1,
    fence: 1,
    claimId: 'c',
    workerId: 'w',
  },
  ...{ leaseUntil: null, startedAt: null, finishedAt: null, cancelRequested: false, idempotencyKey: null },
  ...{ result: null, error: null, progress: null },
  ...change,
})
const error = { name: 'Error', message: 'marker-message' }

async function textAfter(...facts: EngineEvent[]): Promise<string> {
  const registry = new Registry()
  const counters = createCounters({ jobs: ['mail'], queues: ['default'] })
  registerCounters(registry, counters)
  for (const fact of facts) counters.count(fact)
  return registry.metrics()
}

/** The lines that the facts leave behind, without those that are 0. */
async function linesAfter(...facts: EngineEvent[]): Promise<string[]> {
  return (await textAfter(...facts)).split('\n').filter((line) => line !== '' && !/^#| 0$/.test(line))
}

describe('the counters', () => {
  it('begin at 0 for every job and queue that is known, so that the first change shows', async () => {
    const text = await textAfter()
    for (const line of [
      'everytick_runs_total{job="mail",outcome="failed"} 0',
      'everytick_attempts_total{job="mail"} 0',
      'everytick_lateness_seconds_count{queue="default"} 0',
      'everytick_missed_total 0',
    ])
      expect(text).toContain(line)
  })

  it('tell attempts, their lateness and how they ended', async () => {
    const run = runOf({ policy: { retry, timeoutMs: 2000 } })
    const lines = await linesAfter(
      { kind: 'run.started', run, at: 1300 },
      { kind: 'run.retry', run, reason: 'retry', delayMs: 0, error, durationMs: 400 },
      { kind: 'run.started', run, at: 900 },
      { kind: 'run.succeeded', run, result: null, durationMs: 1900 },
    )
    for (const line of [
      'everytick_attempts_total{job="mail"} 2',
      'everytick_runs_total{job="mail",outcome="succeeded"} 1',
      'everytick_lateness_seconds_bucket{queue="default",le="0.25"} 1',
      'everytick_lateness_seconds_bucket{queue="default",le="0.5"} 2',
      'everytick_lateness_seconds_sum{queue="default"} 0.3',
      'everytick_duration_seconds_bucket{job="mail",le="0.5"} 1',
      'everytick_duration_seconds_bucket{job="mail",le="+Inf"} 2',
      'everytick_duration_timeout_ratio_bucket{job="mail",le="0.9"} 1',
      'everytick_duration_timeout_ratio_bucket{job="mail",le="1"} 2',
      'everytick_duration_timeout_ratio_count{job="mail"} 2',
    ])
      expect(lines).toContain(line)
  })

  it.each<[string, EngineEvent, string]>([
    [
      'a failed run',
      { kind: 'run.failed', run: runOf(), error, durationMs: 1 },
      'runs_total{job="mail",outcome="failed"} 1',
    ],
    ['a cancelled run', { kind: 'run.cancelled', run: runOf() }, 'runs_total{job="mail",outcome="cancelled"} 1'],
    ['a lease that was lost', { kind: 'run.lease_lost', run: runOf() }, 'leases_lost_total 1'],
    ['leases that were kept', { kind: 'leases.renewed', count: 7 }, 'leases_renewed_total 7'],
    ['planned runs', { kind: 'schedule.planned', runs: 12, stale: 1 }, 'fires_total 12'],
    ['missed occurrences', { kind: 'schedule.missed', count: 3 }, 'missed_total 3'],
    ['a pass of the planner', { kind: 'planner.passed', durationMs: 20 }, 'planner_pass_seconds_bucket{le="0.025"} 1'],
    [
      'a pass that failed',
      { kind: 'engine.error', where: 'planner', error, retryInMs: 50 },
      'engine_errors_total{where="planner"} 1',
    ],
  ])('tell %s', async (_, fact, line) => {
    expect(await linesAfter(fact)).toContain(`everytick_${line}`)
  })

  it('count a thousand names as two hundred and the rest', async () => {
    const facts = Array.from(
      { length: 1000 },
      (_, i): EngineEvent => ({ kind: 'run.cancelled', run: runOf({ job: `j${i}` }) }),
    )
    const lines = await linesAfter(...facts)
    const cancelled = lines.filter((line) => line.startsWith('everytick_runs_total'))
    expect(cancelled).toHaveLength(200)
    expect(cancelled).toContain('everytick_runs_total{job="other",outcome="cancelled"} 801')
  })

  it('carry nothing of a payload, a result or an error', async () => {
    const run = runOf({ idempotencyKey: 'marker-key' })
    const lines = await linesAfter(
      { kind: 'run.started', run, at: 0 },
      { kind: 'run.log', run, level: 'info', message: 'marker-log' },
      { kind: 'run.failed', run, error, durationMs: 1 },
      { kind: 'run.succeeded', run, result: 'marker-result', durationMs: 1 },
    )
    expect(lines.join('\n')).not.toContain('marker')
  })

  it('keep a hostile name of a job inside its label', async () => {
    const job = 'a"} 1\neverytick_missed_total 99\\'
    const text = (await linesAfter({ kind: 'run.cancelled', run: runOf({ job }) })).join('\n')
    expect(text).toContain('job="a\\"} 1\\neverytick_missed_total 99\\\\",outcome="cancelled"')
    expect(text).not.toMatch(/^everytick_missed_total 99/m)
  })
})
