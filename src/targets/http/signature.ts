/** Signs a call as Standard Webhooks describes it, once per secret, so that receivers can change theirs without a gap; which secrets there are is decided elsewhere. */
import { createHmac } from 'node:crypto'

export interface Signed {
  readonly id: string
  /** In seconds. */
  readonly timestamp: number
  readonly body: string
}

/** The value of `webhook-signature`: a receiver is content when one of them fits. */
export const signatureOf = (keys: readonly Buffer[], { id, timestamp, body }: Signed): string =>
  keys.map((key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`).join(' ')

export const PREFIX = 'whsec_'
const MIN_BYTES = 16

/** The key of a secret: what follows `whsec_`, as base64; any other text is taken as it is. Null when it is too weak or cannot be read. */
export function keyOf(secret: string): Buffer | null {
  const encoded = secret.startsWith(PREFIX)
  if (encoded && !/^[A-Za-z0-9+/]+={0,2}$/.test(secret.slice(PREFIX.length))) return null
  const key = encoded ? Buffer.from(secret.slice(PREFIX.length), 'base64') : Buffer.from(secret, 'utf8')
  return key.length >= MIN_BYTES ? key : null
}
