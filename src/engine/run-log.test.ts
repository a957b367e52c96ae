import { describe, expect, it } from 'vitest'
import { EverytickError } from '../errors.ts'
import type { Run } from '../run/run.ts'
import type { LogStore, NewLogLine } from '../store/contract/logs.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { LeasedRun } from './leased-runs.ts'
import { createRunLog } from './run-log.ts'

type Append = LogStore['append']
const away: Append = async () => {
  throw new EverytickError('STORE_UNREACHABLE', 'away')
}
const refuse: Append = async () => {
  throw new Error('no such table')
}

/** A log on a store that answers in turn as the test says, and what was stored of it, batch by batch. */
function logging(appends: Append[] = []) {
  const batches: (readonly NewLogLine[])[] = []
  const errors: unknown[] = []
  const recoveries: number[] = []
  const clock = fakeClock(0)
  const append: Append = async (lines) => {
    await appends.shift()?.(lines)
    batches.push(lines)
  }
  const logs: LogStore = { append, read: async () => [] }
  const runLog = createRunLog({
    ...{ logs, clock, timers: clock.timers },
    ...{ onError: (error) => errors.push(error), onRecovery: () => recoveries.push(clock.elapsed()) },
  })
  const say = (leased: LeasedRun, ...messages: string[]): void => {
    for (const message of messages) runLog.add(leased, { level: 'info', message, data: undefined })
  }
  const stored = (): string => batches.map((lines) => lines.map(({ message }) => message).join(' ')).join(' | ')
  return { runLog, say, stored, batches, errors, recoveries, clock }
}

const attempt = (id = 'r1'): LeasedRun => new LeasedRun({ id, attempt: 1 } as Run, 0)
const turns = () => new Promise(setImmediate)
const many = (count: number): string[] => Array.from({ length: count }, (_, i) => String(i))

describe('the log of runs', () => {
  it('is stored half a second after a line, with all that was said meanwhile', async () => {
    const { say, stored, clock } = logging()
    say(attempt('r1'), 'a')
    clock.moveBy(499)
    say(attempt('r2'), 'b')
    await turns()
    expect(stored()).toBe('')
    clock.moveBy(1)
    await turns()
    expect(stored()).toBe('a b')
    say(attempt('r1'), 'c')
    await turns()
    expect(stored()).toBe('a b')
    clock.moveBy(500)
    await turns()
    expect(stored()).toBe('a b | c')
  })

  it('is stored at once when two hundred lines wait, and in batches of no more', async () => {
    const { say, batches } = logging()
    say(attempt(), ...many(199))
    await turns()
    expect(batches).toHaveLength(0)
    say(attempt(), ...many(301))
    await turns()
    expect(batches.map(({ length }) => length)).toEqual([200, 200, 100])
  })

  it('is stored at once when an attempt ends that said something, and only then', async () => {
    const { runLog, say, stored, clock } = logging()
    const [loud, silent] = [attempt('r1'), attempt('r2')]
    runLog.ended(loud)
    say(loud, 'a')
    runLog.ended(silent)
    await turns()
    expect(stored()).toBe('')
    runLog.ended(loud)
    await turns()
    expect(stored()).toBe('a')
    expect(clock.nextRingAt()).toBeNull()
  })

  it('sets no timer and asks nothing of the store while nothing is said', async () => {
    const { runLog, batches, clock } = logging()
    for (const id of many(100)) runLog.ended(attempt(id))
    await runLog.idle()
    await runLog.stop()
    expect({ batches, ringsAt: clock.nextRingAt() }).toEqual({ batches: [], ringsAt: null })
  })

  it('takes two thousand lines of an attempt, says once that there were more, and listens to others', async () => {
    const { runLog, say, batches } = logging()
    say(attempt('r1'), ...many(1))
    const leased = attempt('r2')
    say(leased, ...many(2500))
    say(attempt('r3'), 'other')
    await runLog.idle()
    const lines = batches.flat()
    expect(lines).toHaveLength(1 + 2001 + 1)
    expect(lines.filter(({ level }) => level === 'warn')).toHaveLength(1)
    expect(lines.at(-1)).toMatchObject({ runId: 'r3', message: 'other' })
  })

  it('takes a quarter of a megabyte of an attempt', async () => {
    const { runLog, say, batches } = logging()
    say(attempt(), ...many(100).map(() => 'x'.repeat(8000)))
    await runLog.idle()
    expect(batches.flat().map(({ level }) => level)).toEqual([...many(32).map(() => 'info'), 'warn'])
  })

  it('waits for a database that is away, asks it now and then, and keeps the order', async () => {
    const { runLog, say, stored, errors, clock } = logging([away, away])
    const leased = attempt()
    say(leased, 'a')
    clock.moveBy(500)
    await turns()
    say(leased, ...many(250))
    runLog.ended(leased)
    await turns()
    expect(errors).toHaveLength(1)
    clock.moveBy(2000)
    await turns()
    expect({ errors: errors.length, stored: stored() }).toEqual({ errors: 2, stored: '' })
    clock.moveBy(2000)
    await turns()
    expect(stored().replaceAll(' | ', ' ')).toBe(['a', ...many(250)].join(' '))
  })

  it('holds a bounded number of lines meanwhile', async () => {
    const { runLog, say, batches, clock } = logging([away])
    say(attempt(), 'a')
    clock.moveBy(500)
    await turns()
    for (const id of many(20)) say(attempt(id), ...many(1000))
    clock.moveBy(2000)
    await turns()
    await runLog.idle()
    const lines = batches.flat()
    expect(lines.filter(({ level }) => level === 'info')).toHaveLength(10_000)
    expect(lines.filter(({ level }) => level === 'warn')).toHaveLength(11)
  })

  it('drops what the store refuses, and goes on', async () => {
    const { runLog, say, stored, errors } = logging([refuse])
    say(attempt(), 'a')
    await runLog.idle()
    say(attempt(), 'b')
    await runLog.idle()
    expect({ errors: errors.length, stored: stored() }).toEqual({ errors: 1, stored: 'b' })
  })

  it('stores what is left when it stops, and takes nothing more', async () => {
    const { runLog, say, stored, clock } = logging()
    say(attempt(), 'a')
    await runLog.stop()
    say(attempt(), 'b')
    await runLog.stop()
    expect({ stored: stored(), ringsAt: clock.nextRingAt() }).toEqual({ stored: 'a', ringsAt: null })
  })

  it('says once that it works again, after the first lines that are stored', async () => {
    const { say, recoveries, clock } = logging([away, refuse])
    for (const message of ['a', 'b', 'c', 'd']) {
      say(attempt(), message)
      clock.moveBy(2000)
      await turns()
    }
    expect(recoveries).toEqual([6000])
  })

  it('stops although the database is away', async () => {
    const { runLog, say, stored, clock } = logging([away])
    say(attempt(), 'a')
    await runLog.stop()
    expect({ stored: stored(), ringsAt: clock.nextRingAt() }).toEqual({ stored: '', ringsAt: null })
  })

  it('is gone with a crash', async () => {
    const { runLog, say, stored, clock } = logging()
    say(attempt(), 'a')
    runLog.crash()
    say(attempt(), 'b')
    clock.moveBy(5000)
    await turns()
    expect(stored()).toBe('')
  })
})
