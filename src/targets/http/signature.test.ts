/** Signatures as Standard Webhooks wants them, held against the package that receivers use. */
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { keyOf, signatureOf } from './signature.ts'

/** The vector that the specification's own libraries test themselves with. */
const VECTOR = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  signed: { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1614265330, body: '{"test": 2432232314}' },
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
}

describe('a signature', () => {
  it('is the one of the known vector', () => {
    expect(signatureOf([keyOf(VECTOR.secret)!], VECTOR.signed)).toBe(VECTOR.signature)
  })

  it('is the one that the package makes, for encoded and for plain secrets', () => {
    const { id, timestamp, body } = VECTOR.signed
    const at = new Date(timestamp * 1000)
    expect(new Webhook(VECTOR.secret).sign(id, at, body)).toBe(VECTOR.signature)
    const plain = 'a secret in plain words'
    expect(signatureOf([keyOf(plain)!], VECTOR.signed)).toBe(new Webhook(plain, { format: 'raw' }).sign(id, at, body))
  })

  it('is made once for each key, the first one first', () => {
    const keys = [keyOf(VECTOR.secret)!, keyOf('a secret in plain words')!]
    const both = signatureOf(keys, VECTOR.signed).split(' ')
    expect(both).toEqual(keys.map((key) => signatureOf([key], VECTOR.signed)))
  })
})

it.each([
  ['', null],
  ['fifteen letters', null],
  ['sixteen letters.', 16],
  ['whsec_', null],
  ['whsec_c2hvcnQ=', null],
  ['whsec_not base64 at all, but long', null],
  [`whsec_${Buffer.alloc(24).toString('base64')}`, 24],
])('the secret %j has a key of %s bytes', (secret, bytes) => {
  expect(keyOf(secret)?.length ?? null).toBe(bytes)
})
