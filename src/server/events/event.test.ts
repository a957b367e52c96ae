import { describe, expect, it } from 'vitest'
import type { FeedEntry } from '../../store/contract/feed.ts'
import type { Scope } from '../scope.ts'
import { eventOf, hears, instantOf, positionOf, resyncText } from './event.ts'

const AT = Date.UTC(2027, 0, 1)
const happened = { at: AT, id: '7', workspace: 'a' }
const RUN: FeedEntry = {
  ...happened,
  ...{ kind: 'run', state: 'failed', job: 'j', queue: 'q', attempt: 2, dueAt: AT, startedAt: AT - 5 },
  schedule: { id: 's', key: 'k' },
  error: { name: 'Error', message: 'two\nlines' },
}
const REVISION: FeedEntry = {
  ...happened,
  ...{ kind: 'revision', change: 'paused', scheduleId: 's', key: 'k', revision: 2, by: 'ana' },
}
const MISSED: FeedEntry = {
  ...happened,
  ...{ kind: 'non_run', state: 'missed', scheduleId: 's', reason: 'outage', count: 3 },
}
const AUDIT: FeedEntry = {
  ...happened,
  kind: 'audit',
  action: 'schedule.create',
  target: 'schedule a/k',
  actor: 'ana',
  seq: 1,
  hash: 'f',
}
const journal = (entry: 'lost' | 'quarantined'): FeedEntry => ({
  ...{ ...happened, kind: 'journal', entry, runId: 'r', scheduleId: 's', data: {} },
})
const alert: FeedEntry = { ...happened, kind: 'alert', alertId: 'x', state: 'open' }
const by = (scope: Scope, workspace: string | null = null) => ({ name: 'n', scope, workspace, keyId: null })
const ALL = { types: [], scheduleId: null }

describe('an event', () => {
  it.each([
    [RUN, 'run.failed', 's'],
    [REVISION, 'schedule.paused', 's'],
    [MISSED, 'schedule.missed', 's'],
    [AUDIT, 'audit.schedule.create', null],
    [journal('lost'), 'run.lost', 's'],
    [journal('quarantined'), 'schedule.quarantined', 's'],
    [alert, 'alert.open', null],
  ])('has a name, a workspace and a schedule: %#', (entry, type, scheduleId) => {
    expect(eventOf(entry)).toMatchObject({ type, workspace: 'a', scheduleId, at: AT })
  })

  it('is one block of lines, whatever it says', () => {
    const { text, id } = eventOf(RUN)
    const [first, second, third, ...rest] = text.split('\n')
    expect([first, second, rest]).toEqual([`id: ${id}`, 'event: run.failed', ['', '']])
    expect(JSON.parse(third!.slice('data: '.length))).toMatchObject({
      run: '7',
      durationMs: 5,
      at: '2027-01-01T00:00:00.000Z',
    })
  })

  it('has an id that leads back to its instant, as a position and resync have', () => {
    for (const entry of [RUN, REVISION, MISSED, AUDIT, alert, journal('lost')])
      expect(instantOf(eventOf(entry).id!)).toBe(AT)
    expect(instantOf(positionOf(AT))).toBe(AT)
    expect(instantOf(/^id: (.*)$/m.exec(resyncText(AT))![1]!)).toBe(AT)
    for (const strange of ['', 'x', '12', '-run-1', '1-what-2', `${'9'.repeat(16)}-run-1`])
      expect(instantOf(strange)).toBeNull()
  })
})

describe('one who follows', () => {
  it.each([
    ['of another workspace', RUN, by('admin', 'b'), ALL, false],
    ['of its own workspace', RUN, by('read', 'a'), ALL, true],
    ['of any workspace, when bound to none', RUN, by('read'), ALL, true],
    ['of the fleet, when bound to a workspace', { ...AUDIT, workspace: '' }, by('admin', 'a'), ALL, false],
    ['of the audit log, as an operator', AUDIT, by('operate'), ALL, false],
    [
      'of the audit log, as an operator who asks for it',
      AUDIT,
      by('operate'),
      { types: ['audit.*'], scheduleId: null },
      false,
    ],
    ['of the audit log, as an admin', AUDIT, by('admin'), ALL, true],
    ['of a type by its name', RUN, by('read'), { types: ['x', 'run.failed'], scheduleId: null }, true],
    ['of a type by its kind', RUN, by('read'), { types: ['run.*'], scheduleId: null }, true],
    ['of another type', RUN, by('read'), { types: ['run.fail', 'schedule.*'], scheduleId: null }, false],
    ['of its schedule', RUN, by('read'), { types: [], scheduleId: 's' }, true],
    ['of another schedule', RUN, by('read'), { types: [], scheduleId: 't' }, false],
  ] as const)('hears what is %s or not', (_, entry, principal, wish, expected) => {
    expect(hears(eventOf(entry), principal, wish)).toBe(expected)
  })
})
