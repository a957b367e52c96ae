import { describe, expect, it } from 'vitest'
import type { Failover } from '../../observe/failover.ts'
import { decideLineage, type LogState, type Memory, type Observation } from './lineage.ts'

const state = (more: Partial<LogState> = {}): LogState => ({
  ...{ system: 'a', timeline: 1, position: 1000, at: 10_000, synchronous: false },
  ...more,
})
const memory = (more: Partial<Memory> = {}): Memory => ({ ...state(), acknowledgedAt: 11_000, ...more })
const PROMOTED = state({ timeline: 2, position: 1100, at: 20_000 })
const RECORD: Failover = {
  ...{ id: '1970-01-01T00:00:20.000Z', cause: 'timeline', mayHaveLost: true, from: 10_000, to: 20_000 },
  before: { timeline: 1, position: 1000 },
  after: { timeline: 2, position: 1100 },
}
const failover = (more: Partial<Failover> = {}): object => ({ kind: 'failed_over', failover: { ...RECORD, ...more } })
const SAME = { kind: 'same' }
const SYNCHRONOUS = state({ synchronous: true })

describe('the server behind a connection', () => {
  it.each<[string, Partial<Observation>, object]>([
    ['is new to everybody', { memory: null, stored: null, now: state() }, SAME],
    ['is the one last seen', { now: state({ position: 1001 }) }, SAME],
    ['is the one last seen, whose note another process renewed', { stored: state({ position: 1500 }) }, SAME],
    ['crashed and recovered what was on disk', { now: state({ at: 30_000 }) }, SAME],
    ['lost its note, and nothing else shows', { stored: null }, SAME],
    ['hides its identifier from this role', { now: state({ system: null }) }, SAME],
    ['is a promoted standby', { now: PROMOTED }, failover()],
    ['is a promoted standby, for a process that saw nothing before', { memory: null, now: PROMOTED }, failover()],
    [
      'is a promoted standby, after a last acknowledgement by a clock that is ahead',
      { memory: memory({ acknowledgedAt: 20_400 }), now: PROMOTED },
      failover({ to: 20_400 }),
    ],
    [
      'is a promoted standby that was synchronous',
      { stored: SYNCHRONOUS, memory: memory({ synchronous: true }), now: PROMOTED },
      failover({ mayHaveLost: false }),
    ],
    [
      'is a promoted standby that is called synchronous and lacks a note that was acknowledged',
      { stored: SYNCHRONOUS, memory: memory({ position: 1001 }), now: PROMOTED },
      failover(),
    ],
    [
      'is a promoted standby that never got a note',
      { stored: null, now: PROMOTED },
      failover({ from: 0, before: { timeline: 1, position: 0 } }),
    ],
    [
      'is another cluster, such as a restored dump',
      { memory: null, stored: SYNCHRONOUS, now: state({ system: 'b', at: 20_000, position: 1100 }) },
      failover({ cause: 'system', after: { timeline: 1, position: 1100 } }),
    ],
    [
      'went back in its log, such as a disk snapshot that was restored',
      { memory: memory({ position: 1050 }), now: state({ at: 20_000, position: 1100 }) },
      failover({ cause: 'position', after: { timeline: 1, position: 1100 } }),
    ],
    ['is the old primary', { memory: memory({ timeline: 2 }), stored: state(), now: state() }, { kind: 'outdated' }],
    [
      'is a promoted standby that another process recorded',
      { stored: PROMOTED, now: PROMOTED, recorded: RECORD },
      { kind: 'known', failover: RECORD },
    ],
    [
      'is a promoted standby, recorded before the old primary acknowledged something to this process',
      { memory: memory({ acknowledgedAt: 23_000 }), stored: PROMOTED, now: PROMOTED, recorded: RECORD },
      failover({ to: 23_000 }),
    ],
    [
      'is a promoted standby, recorded as complete by a process that had not seen the newest note',
      {
        ...{ memory: memory({ position: 1001 }), stored: PROMOTED, now: PROMOTED },
        recorded: { ...RECORD, mayHaveLost: false },
      },
      failover(),
    ],
    ['was promoted before this process saw it', { memory: memory(PROMOTED), stored: PROMOTED, now: PROMOTED }, SAME],
  ])('%s', (_, change, expected) => {
    const seen: Observation = { memory: memory(), stored: state(), now: state(), recorded: null, ...change }
    expect(decideLineage(seen)).toEqual(expected)
  })
})
