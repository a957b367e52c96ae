import { describe, expect, it } from 'vitest'
import { shortIds } from './short-id.ts'

const A = '0190a0f0-1111-7000-8000-000000000001'
const B = '0190a0f0-1112-7000-8000-000000000002'
const C = '0190a0f0-1112-7000-8000-000000000003'
const FAR = '0290a0f0-1111-7000-8000-000000000001'

describe('ids in a table', () => {
  it.each([
    [[A], ['0190a0f0']],
    [[], []],
    [
      [A, FAR],
      ['0190a0f0', '0290a0f0'],
    ],
    [
      [FAR, B, A],
      ['0290a0f0-1111', '0190a0f0-1112', '0190a0f0-1111'],
    ],
    [
      [B, C],
      [B, C],
    ],
    [
      ['queue_stalled', A],
      ['queue_stalled', '0190a0f0'],
    ],
  ])('of %j are cut to %j', (ids, cut) => {
    expect(ids.map(shortIds(ids))).toEqual(cut)
  })

  it('show more where the list is filtered, and never end with a dash', () => {
    expect([A].map(shortIds([A], { filtered: true }))).toEqual(['0190a0f0-1111-7000'])
    const [one, other] = ['0190a0f0-1111-7000-8000-000000000001', '0190a0f0-1111-7001-8000-000000000001']
    expect([one, other].map(shortIds([one, other]))).toEqual(['0190a0f0-1111-7000', '0190a0f0-1111-7001'])
  })
})
