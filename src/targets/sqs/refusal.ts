/** Decides what an error of SQS, or of the way to it, means for the attempt; pure, and it keeps none of the error's words. */
import type { Json } from '../../json.ts'
import { AttemptDiscarded, AttemptFailed } from '../../run/control.ts'

const NAME = 'SqsSendFailed'
const THROTTLED = /throttl|TooManyRequests|OverLimit|SlowDown|RequestLimitExceeded/i
/** What somebody has to change first: the queue, the rights, the message or the credentials. */
const FINAL = new Set([
  'AccessDenied',
  'AccessDeniedException',
  'AWS.SimpleQueueService.NonExistentQueue',
  'InvalidAddress',
  'InvalidAttributeName',
  'InvalidAttributeValue',
  'InvalidMessageContents',
  'InvalidParameterValue',
  'InvalidParameterValueException',
  'InvalidSecurity',
  'KmsAccessDenied',
  'KmsDisabled',
  'KmsInvalidKeyUsage',
  'KmsInvalidState',
  'KmsNotFound',
  'KmsOptInRequired',
  'MissingParameter',
  'QueueDoesNotExist',
  'UnsupportedOperation',
])
/** In the words of whoever reads the run. */
const KNOWN: Readonly<Record<string, string>> = {
  AccessDenied: 'the credentials may not send to the queue',
  AccessDeniedException: 'the credentials may not send to the queue',
  'AWS.SimpleQueueService.NonExistentQueue': 'there is no such queue',
  CredentialsProviderError: 'there are no credentials for AWS',
  ExpiredToken: 'the credentials have expired',
  ExpiredTokenException: 'the credentials have expired',
  InvalidChecksumError: 'the checksum shows that SQS received a different message',
  QueueDoesNotExist: 'there is no such queue',
}

/** Messages of AWS name accounts and roles, and one about signatures repeats the request with its session token. */
export function refusalOf(error: unknown): AttemptFailed | AttemptDiscarded {
  const { name, message, code, $metadata, $retryable } = (error ?? {}) as Partial<AwsError>
  const called = message === 'InvalidChecksumError' ? message : (wordOf(name) ?? 'Error')
  const socket = wordOf(code)
  const status = typeof $metadata?.httpStatusCode === 'number' ? $metadata.httpStatusCode : null
  const requestId = wordOf($metadata?.requestId)
  const detail: Json = { aws: called, status, requestId }
  // Without a status nobody answered, whatever the SDK calls it.
  if (status === null && socket !== null && !KNOWN[called]) {
    return new AttemptFailed(NAME, `SQS cannot be reached: ${socket}`, { code: 'SQS_UNREACHABLE', detail })
  }
  if (THROTTLED.test(called) || $retryable?.throttling === true) {
    return new AttemptFailed(NAME, `SQS throttles this queue: ${called}`, { code: 'SQS_THROTTLED', detail })
  }
  const text = `SQS rejected the message: ${KNOWN[called] ?? called}`
  const failure = { code: 'SQS_REFUSED', detail }
  return FINAL.has(called) ? new AttemptDiscarded(NAME, text, failure) : new AttemptFailed(NAME, text, failure)
}

interface AwsError {
  readonly name: unknown
  readonly message: unknown
  readonly code: unknown
  readonly $metadata: { readonly httpStatusCode?: unknown; readonly requestId?: unknown }
  readonly $retryable: { readonly throttling?: unknown }
}

/** A name or an id, and never a sentence. */
const wordOf = (value: unknown): string | null =>
  typeof value === 'string' && /^[\w.-]{1,100}$/.test(value) ? value : null
