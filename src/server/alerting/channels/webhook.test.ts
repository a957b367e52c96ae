import { describe, expect, it } from 'vitest'
import { isWebhookSecret, signature } from './webhook.ts'

describe('a signature', () => {
  it.each([
    // The example of the Standard Webhooks specification's own libraries.
    [
      'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1_614_265_330, body: '{"test": 2432232314}' },
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    ],
    // Computed with openssl: printf '%s' "$id.$timestamp.$body" | openssl dgst -sha256 -mac HMAC -macopt hexkey:... -binary | base64
    [
      `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
      { id: 'a.opened.b', timestamp: 1_800_000_000, body: '{"name":"Zürich"}' },
      'v1,fs04ssWtu4AqJSabAN+Ss7duvH0yRqCu0Sozf2faMN4=',
    ],
  ])('with %s is what others compute', (secret, signed, expected) => {
    expect(signature(secret, signed)).toBe(expected)
  })

  it.each([
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', true],
    [`whsec_${Buffer.alloc(64, 1).toString('base64')}`, true],
    [`whsec_${Buffer.alloc(23, 1).toString('base64')}`, false],
    [`whsec_${Buffer.alloc(65, 1).toString('base64')}`, false],
    ['MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', false],
    ['whsec_', false],
    [`whsec_${'*'.repeat(40)}`, false],
  ])('may have the secret %s: %s', (secret, expected) => expect(isWebhookSecret(secret)).toBe(expected))
})
