import { describe, expect, it } from 'vitest'
import { answered, refusalOf } from './answered.ts'

const never = new AbortController().signal
const error = (message: string, more: object = {}): Error => Object.assign(new Error(message), more)

describe('what Redis or the way to it answers', () => {
  it.each([
    [error('connect ECONNREFUSED 10.1.2.3:6379', { code: 'ECONNREFUSED' }), 'BULLMQ_UNREACHABLE'],
    [error('getaddrinfo ENOTFOUND redis.internal', { code: 'ENOTFOUND' }), 'BULLMQ_UNREACHABLE'],
    [error('Reached the max retries …', { name: 'MaxRetriesPerRequestError' }), 'BULLMQ_UNREACHABLE'],
    [error('Connection is closed.'), 'BULLMQ_UNREACHABLE'],
    [error('Command timed out'), 'BULLMQ_UNREACHABLE'],
    [error("Stream isn't writeable and enableOfflineQueue options is false"), 'BULLMQ_UNREACHABLE'],
    [error('OOM command not allowed, hunter2', { name: 'ReplyError' }), 'BULLMQ_REFUSED'],
    [error('WRONGPASS invalid username-password pair, hunter2'), 'BULLMQ_REFUSED'],
  ])('is told by its kind alone: %s', (given, code) => {
    const told = refusalOf(given, 'mail') as Error
    expect(told).toMatchObject({ code })
    expect(told.message).not.toMatch(/10\.1\.2\.3|internal|hunter2|6379/)
    expect(told.cause).toBeUndefined()
  })

  it('is left as it is when it is a fault of the caller', () => {
    const fault = error('Priority should not be float')
    expect(refusalOf(fault, 'mail')).toBe(fault)
  })
})

it('waits no longer than the signal lets it', async () => {
  const asked = new Promise<never>(() => {})
  const stop = new AbortController()
  const late = answered(asked, 'mail', stop.signal)
  stop.abort(new Error('cancelled'))
  await expect(late).rejects.toThrow('cancelled')
  await expect(answered(asked, 'mail', stop.signal)).rejects.toThrow('cancelled')
})

it('hands on an answer', async () => {
  expect(await answered(Promise.resolve(7), 'mail', never)).toBe(7)
})
