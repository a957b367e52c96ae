import { describe, expect, it } from 'vitest'
import { attemptOfToken, completionTokenOf, isCompletionToken } from './completion-token.ts'

const key = Buffer.alloc(32, 7)
const runId = '0198f1c2-7d3e-7a10-8b1f-2c4d5e6f7a8b'
const claimId = '5f0c8f3e-3c1e-4b7a-9d0e-6a1b2c3d4e5f'
const attempt = { fence: 12, claimId }
const token = completionTokenOf(key, { runId, ...attempt })

describe('a completion token', () => {
  it('names the fence and the claim of the attempt it was made for', () => {
    expect(token).toMatch(/^evt_run_12\.5f0c8f3e-[\w-]{27}\.[\w-]{43}$/)
    expect(isCompletionToken(token)).toBe(true)
    expect(attemptOfToken(key, runId, token)).toEqual(attempt)
  })

  it('is the same however the id of the run is written', () => {
    expect(attemptOfToken(key, runId.toUpperCase(), token)).toEqual(attempt)
  })

  it.each([
    ['another run', runId.replace('0198', '0199'), token],
    ['another fence', runId, token.replace('_12.', '_13.')],
    ['another claim', runId, token.replace('5f0c8f3e', '5f0c8f3f')],
    ['no claim', runId, token.replace(`.${claimId}`, '')],
    ['a seal that was changed', runId, `${token.slice(0, -2)}${token.at(-2) === 'A' ? 'B' : 'A'}${token.at(-1)}`],
    ['a seal that is too short', runId, token.slice(0, -1)],
    ['a seal with more behind it', runId, `${token}A`],
    ['a fence that is no number', runId, token.replace('_12.', '_1e1.')],
    ['no fence', runId, token.replace('_12.', '_.')],
    ['an API key', runId, `evt_ad_${'A'.repeat(65)}`],
    ['nothing', runId, ''],
  ])('is refused for %s', (_, id, given) => {
    expect(attemptOfToken(key, id, given)).toBeNull()
  })

  it('is refused under another key', () => {
    expect(attemptOfToken(Buffer.alloc(32, 8), runId, token)).toBeNull()
  })
})
