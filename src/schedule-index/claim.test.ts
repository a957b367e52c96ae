/** Promises of the decisions behind every claim, which need no database. */
import { describe, expect, it } from 'vitest'
import { EverytickError } from '../errors.ts'
import { advanced, nextFireAfter } from './advance.ts'
import { startClaim } from './claim.ts'
import { type BadRow, NEVER_AT, readRow, type ScheduleIndexRow } from './contract.ts'

const NINE = Date.parse('2026-11-16T09:00:00Z')
const row = (given: Partial<ScheduleIndexRow> = {}): ScheduleIndexRow => ({
  userId: 'ana',
  key: 'digest',
  cron: '*/5 * * * *',
  nextFireAt: NINE,
  ...given,
})
const code = (call: () => unknown): string => {
  try {
    call()
  } catch (error) {
    return error instanceof EverytickError ? error.code : String(error)
  }
  return 'accepted'
}

describe('the next occurrence of a claimed row', () => {
  it('is the one after now, on the grid of the expression, wherever the cursor stood', () => {
    expect(advanced(row(), NINE)).toBe(NINE + 300_000)
    expect(advanced(row({ nextFireAt: NINE - 86_400_001 }), NINE + 1)).toBe(NINE + 300_000)
    expect(advanced(row({ cron: '@every 7m', nextFireAt: NINE - 1 }), NINE) % 420_000).toBe(0)
  })

  it('spreads H by the identity of the row, the same at the first time as at every later one', () => {
    const hashed = row({ cron: 'H H * * *' })
    const first = nextFireAfter(hashed, NINE)
    expect(advanced({ ...hashed, nextFireAt: first }, first)).toBe(first + 86_400_000)
    const minutes = ['a', 'b', 'c', 'd'].map((key) => nextFireAfter({ ...hashed, key }, NINE))
    expect(new Set(minutes).size).toBeGreaterThan(1)
  })

  it('is never, when the expression has no more', () => {
    expect(advanced(row({ cron: '0 0 30 2 *' }), NINE)).toBe(NEVER_AT)
    expect(code(() => nextFireAfter(row({ cron: '0 0 30 2 *' }), NINE))).toBe('CRON_NEVER')
  })
})

describe('a claim', () => {
  it('reads on behind bad rows until it has what may be claimed', () => {
    const claim = startClaim(NINE, 2)
    expect(claim.wanted).toBe(2)
    claim.take([row({ cron: 'bad' }), row({ key: 'one' })])
    expect(claim.wanted).toBe(1)
    expect(claim.take([row({ key: 'two' })])).toEqual([{ userId: 'ana', key: 'two', nextFireAt: NINE + 300_000 }])
    expect(claim.wanted).toBe(0)
    expect(claim.finish({}).map(({ key }) => key)).toEqual(['one', 'two'])
  })

  it('judges a large claim by pages', () => {
    const claim = startClaim(NINE, 600)
    const pages: number[] = []
    while (claim.wanted > 0) {
      pages.push(claim.wanted)
      claim.take(Array.from({ length: claim.wanted }, (_, i) => row({ key: `${pages.length}/${i}` })))
    }
    expect(pages).toEqual([250, 250, 100])
    expect(claim.finish({}).length).toBe(600)
  })

  it('ends when there was less than it wanted', () => {
    const claim = startClaim(NINE, 100)
    claim.take([row()])
    expect(claim.wanted).toBe(0)
  })

  it('moves a bad row beyond every instant, and tells of it once', () => {
    const told: BadRow[] = []
    const claim = startClaim(NINE, 10)
    const bad = row({ timezone: 'Mars/Olympus_Mons' })
    expect(claim.take([bad])).toEqual([{ userId: 'ana', key: 'digest', nextFireAt: NEVER_AT }])
    expect(claim.finish({ onBadRow: (one) => told.push(one) })).toEqual([])
    expect(told).toEqual([{ row: bad, error: expect.objectContaining({ code: 'TIMEZONE_UNKNOWN' }) }])
    expect(code(() => startClaim(NEVER_AT, 10))).toBe('INSTANT_INVALID')
  })

  it('leaves what is too much for one transaction to the next claim', () => {
    const claim = startClaim(NINE, 1)
    let read = 0
    for (; claim.wanted > 0; read++) claim.take([row({ cron: 'bad', key: String(read) })])
    expect(read).toBe(250)
  })

  it('keeps its rows when the listener for bad ones fails', () => {
    const failing = [
      () => {
        throw new Error('listener')
      },
      () => Promise.reject(new Error('listener')),
    ]
    for (const onBadRow of failing) {
      const claim = startClaim(NINE, 10)
      claim.take([row({ cron: 'bad' }), row({ key: 'good' })])
      expect(claim.finish({ onBadRow }).map(({ key }) => key)).toEqual(['good'])
    }
  })
})

describe('what is handed in', () => {
  it('is refused with a code when no database could give it back', () => {
    const wrong = [
      { userId: '' },
      { key: 'x'.repeat(256) },
      { key: 'a\0b' },
      { userId: '\ud800' },
      { cron: 5 as unknown as string },
      { timezone: null as unknown as string },
    ]
    expect(wrong.map((given) => code(() => readRow(row(given))))).toEqual(wrong.map(() => 'OPTION_INVALID'))
    const instants = [Number.NaN, 1.5, 8.64e15 + 1, '5' as unknown as number]
    expect(instants.map((nextFireAt) => code(() => readRow(row({ nextFireAt }))))).toEqual(
      instants.map(() => 'INSTANT_INVALID'),
    )
    expect([-1, 1.5, Number.POSITIVE_INFINITY, 10_001].map((limit) => code(() => startClaim(NINE, limit)))).toEqual(
      Array(4).fill('OPTION_INVALID'),
    )
  })

  it('is accepted when it is only not cron, for that is found out, and told, when it is due', () => {
    expect(readRow(row({ cron: 'whenever', timezone: '' }))).toEqual(row({ cron: 'whenever', timezone: '' }))
  })
})
