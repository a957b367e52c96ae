import { describe, expect, it } from 'vitest'
import { completionTokenOf, fenceOfToken, isCompletionToken } from './completion-token.ts'

const key = Buffer.alloc(32, 7)
const runId = '0198f1c2-7d3e-7a10-8b1f-2c4d5e6f7a8b'
const token = completionTokenOf(key, { runId, fence: 12 })

describe('a completion token', () => {
  it('tells the fence of the attempt it was made for', () => {
    expect(token).toMatch(/^evt_run_12\.[\w-]{43}$/)
    expect(isCompletionToken(token)).toBe(true)
    expect(fenceOfToken(key, runId, token)).toBe(12)
  })

  it('is the same however the id of the run is written', () => {
    expect(fenceOfToken(key, runId.toUpperCase(), token)).toBe(12)
  })

  it.each([
    ['another run', runId.replace('0198', '0199'), token],
    ['another fence', runId, token.replace('_12.', '_13.')],
    ['a seal that was changed', runId, `${token.slice(0, -2)}${token.at(-2) === 'A' ? 'B' : 'A'}${token.at(-1)}`],
    ['a seal that is too short', runId, token.slice(0, -1)],
    ['a seal with more behind it', runId, `${token}A`],
    ['a fence that is no number', runId, token.replace('_12.', '_1e1.')],
    ['no fence', runId, token.replace('_12.', '_.')],
    ['an API key', runId, `evt_ad_${'A'.repeat(65)}`],
    ['nothing', runId, ''],
  ])('is refused for %s', (_, id, given) => {
    expect(fenceOfToken(key, id, given)).toBeNull()
  })

  it('is refused under another key', () => {
    expect(fenceOfToken(Buffer.alloc(32, 8), runId, token)).toBeNull()
  })
})
