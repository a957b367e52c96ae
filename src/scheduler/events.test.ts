import { describe, expect, it } from 'vitest'
import type { EngineEvent } from '../observe/engine-event.ts'
import type { Run } from '../run/run.ts'
import { eventHub } from './events.ts'

const planned: EngineEvent = { kind: 'schedule.planned', runs: 1, stale: 0 }
const silent = { debug() {}, info() {}, warn() {}, error() {} }

describe('those who count facts', () => {
  it('hear every fact, also what no event is made of, until they leave', () => {
    const hub = eventHub(silent)
    const heard: EngineEvent[] = []
    const leave = hub.onEvent((fact) => heard.push(fact))
    hub.tell(planned)
    leave()
    hub.tell(planned)
    expect(heard).toEqual([planned])
  })

  it('cannot hurt the engine, nor those who count beside them', () => {
    const lines: string[] = []
    const hub = eventHub({ ...silent, error: (message) => lines.push(message) })
    let heard = 0
    hub.onEvent(() => {
      throw new Error('miscounted')
    })
    hub.onEvent(() => heard++)
    hub.tell(planned)
    expect(heard).toBe(1)
    expect(lines).toEqual(['the counter of "schedule.planned" events threw'])
  })
})

describe('the log of an app', () => {
  const logged = () => {
    const lines: { level: string; message: string; data: unknown }[] = []
    const log = (level: string) => (message: string, data?: unknown) => lines.push({ level, message, data })
    const logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') }
    let at = 0
    const hub = eventHub(logger, { clock: { elapsed: () => at } })
    return { lines, hub, pass: (ms: number) => (at += ms) }
  }

  it('has one line of a failing loop in ten seconds, only the first with the error, and events stay whole', () => {
    const { lines, hub, pass } = logged()
    let events = 0
    hub.on('error', () => events++)
    for (let i = 0; i <= 100; i++) {
      hub.tell({ kind: 'engine.error', where: 'planner', error: new Error('away'), retryInMs: 50 })
      pass(200)
    }
    hub.tell({ kind: 'engine.recovered', where: 'planner' })
    hub.tell({ kind: 'engine.recovered', where: 'planner' })
    expect(events).toBe(101)
    expect(lines).toEqual([
      {
        level: 'error',
        message: 'planner failed and is retried in 50 ms',
        data: { error: expect.objectContaining({ message: 'away' }) },
      },
      { level: 'error', message: 'planner still fails: away', data: { unlogged: 49 } },
      { level: 'error', message: 'planner still fails: away', data: { unlogged: 49 } },
      { level: 'info', message: 'planner works again', data: {} },
    ])
  })

  it('has one line in ten seconds of runs whose job the worker does not have, and facts stay whole', () => {
    const { lines, hub, pass } = logged()
    let facts = 0
    hub.onEvent(() => facts++)
    const run = { id: 'r', workspace: 'default', job: 'of-a-newer-build', attempt: 1, schedule: null } as Run
    for (let i = 0; i <= 100; i++) {
      hub.tell({ kind: 'job.unknown', run, workerId: 'w' })
      pass(200)
    }
    expect(facts).toBe(101)
    const message = 'this worker has no job "of-a-newer-build"; it returned the run to the queue'
    const about = { run: run.id, attempt: 1, workspace: 'default' }
    expect(lines).toEqual([
      { level: 'warn', message, data: about },
      { level: 'warn', message, data: { ...about, unlogged: 49 } },
      { level: 'warn', message, data: { ...about, unlogged: 49 } },
    ])
  })

  it('has a line of changed schedules, planning, retention and leadership', () => {
    const { lines, hub } = logged()
    hub.tell({ kind: 'schedules.changed', action: 'paused', count: 1, names: ['default/a'], by: 'ana' })
    hub.tell({ kind: 'schedules.changed', action: 'created', count: 9, names: ['default/a'], by: 'sync' })
    hub.tell(planned)
    hub.tell({ kind: 'retention.removed', count: 12 })
    hub.tell({ kind: 'leadership.changed', task: 'planner', leads: true })
    hub.tell({ kind: 'leadership.changed', task: 'reaper', leads: false })
    expect(lines.map(({ level, message }) => `${level}: ${message}`)).toEqual([
      'info: schedule paused',
      'info: 9 schedules created',
      'debug: planned 1 runs',
      'info: removed 12 rows that were older than their retention',
      'info: this process now plans schedules',
      'debug: this process no longer does the background task "reaper"',
    ])
  })

  it('leaves out what goes as it should on the console of an app that named no logger', () => {
    const lines: string[] = []
    const note = (message: string) => lines.push(message)
    const logger = { debug: note, info: note, warn: note, error: note }
    const hub = eventHub(logger, { logsRoutine: false })
    hub.tell(planned)
    hub.tell({ kind: 'leadership.changed', task: 'planner', leads: true })
    hub.tell({ kind: 'schedule.missed', count: 2 })
    expect(lines).toEqual(['2 occurrences were recorded as missed'])
  })
})
