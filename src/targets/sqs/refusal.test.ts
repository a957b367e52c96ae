import { describe, expect, it } from 'vitest'
import { regionOf } from './client.ts'
import { refusalOf } from './refusal.ts'

const SECRET = 'arn:aws:iam::123456789012:user/hunter2'
const error = (name: string, more: object = {}): Error => Object.assign(new Error(`about ${SECRET}`), { name, ...more })
const answered = (name: string, httpStatusCode = 400, more: object = {}): Error =>
  error(name, { $metadata: { httpStatusCode, requestId: 'b1-2c' }, ...more })

describe('an error of SQS', () => {
  it.each([
    ['AttemptDiscarded', 'SQS_REFUSED', answered('QueueDoesNotExist')],
    ['AttemptDiscarded', 'SQS_REFUSED', answered('AWS.SimpleQueueService.NonExistentQueue')],
    ['AttemptDiscarded', 'SQS_REFUSED', answered('AccessDenied', 403)],
    ['AttemptDiscarded', 'SQS_REFUSED', answered('AccessDeniedException')],
    ['AttemptDiscarded', 'SQS_REFUSED', answered('KmsAccessDenied')],
    ['AttemptDiscarded', 'SQS_REFUSED', answered('InvalidMessageContents')],
    ['AttemptFailed', 'SQS_THROTTLED', answered('RequestThrottled')],
    ['AttemptFailed', 'SQS_THROTTLED', answered('ThrottlingException')],
    ['AttemptFailed', 'SQS_THROTTLED', answered('KmsThrottled')],
    ['AttemptFailed', 'SQS_THROTTLED', answered('OverLimit', 403)],
    ['AttemptFailed', 'SQS_THROTTLED', answered('Busy', 503, { $retryable: { throttling: true } })],
    ['AttemptFailed', 'SQS_REFUSED', answered('InternalFailure', 500)],
    ['AttemptFailed', 'SQS_REFUSED', answered('ExpiredToken', 403)],
    ['AttemptFailed', 'SQS_REFUSED', answered('SignatureDoesNotMatch', 403)],
    ['AttemptFailed', 'SQS_REFUSED', error('CredentialsProviderError')],
    ['AttemptFailed', 'SQS_REFUSED', new Error('InvalidChecksumError')],
    ['AttemptFailed', 'SQS_UNREACHABLE', error('Error', { code: 'ECONNREFUSED' })],
    ['AttemptFailed', 'SQS_UNREACHABLE', error('TimeoutError', { code: 'ETIMEDOUT' })],
    ['AttemptFailed', 'SQS_REFUSED', error(`a name with ${SECRET}`)],
    ['AttemptFailed', 'SQS_REFUSED', undefined],
  ])('is an %s with the code %s and none of its own words: %s', (kind, code, given) => {
    const told = refusalOf(given)
    expect([told.constructor.name, told.code]).toEqual([kind, code])
    expect(JSON.stringify([told.message, told.detail])).not.toContain('hunter2')
    expect(told.cause).toBeUndefined()
  })

  it('says what somebody can look up', () => {
    expect(refusalOf(answered('QueueDoesNotExist'))).toMatchObject({
      message: 'SQS rejected the message: there is no such queue',
      detail: { aws: 'QueueDoesNotExist', status: 400, requestId: 'b1-2c' },
    })
  })
})

describe('the region of a queue', () => {
  it.each([
    ['https://sqs.eu-central-1.amazonaws.com/123456789012/mail', 'eu-central-1'],
    ['https://sqs-fips.us-gov-west-1.amazonaws.com/1/mail', 'us-gov-west-1'],
    ['https://sqs.cn-north-1.amazonaws.com.cn/1/mail', 'cn-north-1'],
    ['https://sqs.us-east-1.api.aws/1/mail', 'us-east-1'],
    ['https://vpce-1-2.sqs.us-east-2.vpce.amazonaws.com/1/mail', 'us-east-2'],
    ['https://eu-west-1.queue.amazonaws.com/1/mail', 'eu-west-1'],
    ['https://queue.amazonaws.com/1/mail', undefined],
    ['http://localhost:4566/000000000000/mail', undefined],
    ['https://sqs.eu-central-1.amazonaws.com.example.org/1/mail', undefined],
  ])('is read from its address: %s is in %s', (url, region) => {
    expect(regionOf(new URL(url))).toBe(region)
  })
})
