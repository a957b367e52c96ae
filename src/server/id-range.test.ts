import { describe, expect, it } from 'vitest'
import { idRange, startOf, within } from './id-range.ts'

describe('the ids that begin with a text', () => {
  it.each([
    ['019a', '019a0000-0000-0000-0000-000000000000', '019b0000-0000-0000-0000-000000000000'],
    ['019A1F', '019a1f00-0000-0000-0000-000000000000', '019a2000-0000-0000-0000-000000000000'],
    ['00ff', '00ff0000-0000-0000-0000-000000000000', '01000000-0000-0000-0000-000000000000'],
    ['019a1f2e-', '019a1f2e-0000-0000-0000-000000000000', '019a1f2f-0000-0000-0000-000000000000'],
    ['019a1f2e-7', '019a1f2e-7000-0000-0000-000000000000', '019a1f2e-8000-0000-0000-000000000000'],
    ['019a1f2e70', '019a1f2e-7000-0000-0000-000000000000', '019a1f2e-7100-0000-0000-000000000000'],
    [
      '0190a0f0-0000-7000-8000-00000000000f',
      '0190a0f0-0000-7000-8000-00000000000f',
      '0190a0f0-0000-7000-8000-000000000010',
    ],
  ])('are from %j those from %s on, before %s', (text, from, before) => {
    expect(idRange(text)).toEqual({ from, before })
  })

  it('go to the end where no greater beginning exists', () => {
    expect(idRange('ffff')).toEqual({ from: 'ffff0000-0000-0000-0000-000000000000' })
  })

  it.each(['', '-', '019', '-0-1-9-', 'xyz1', '019g', '0'.repeat(33), 'nightly'])('are none for %j', (text) => {
    expect(idRange(text)).toBeNull()
  })
})

describe('a page of the ids that begin with a text', () => {
  const range = idRange('019a')!

  it('begins before the first id beyond them, or at a cursor that is among them', () => {
    expect(startOf(range, undefined)).toEqual({ after: range.before })
    expect(startOf(range, { id: '019a8000' })).toEqual({ after: '019a8000' })
    expect(startOf(range, { id: 'ffff' })).toEqual({ after: range.before })
    expect(startOf(undefined, { id: 'ffff' })).toEqual({ after: 'ffff' })
    expect(startOf(undefined, undefined)).toEqual({})
    expect(startOf(idRange('ffff')!, undefined)).toEqual({})
  })

  it('ends before the first id that is less', () => {
    const rows = [{ id: '019a8' }, { id: range.from }, { id: '0199f' }]
    expect(within(rows, range)).toEqual(rows.slice(0, 2))
    expect(within(rows, undefined)).toEqual(rows)
  })
})
