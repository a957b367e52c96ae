/** Posts a signed webhook (Standard Webhooks), so that the receiver can verify the sender and deduplicate. */
import { createHmac } from 'node:crypto'
import type { Clock } from '../../../time/clock.ts'
import { type HttpSending, httpSend } from '../http-send.ts'
import { bodyOf, type Delivery, type Send } from '../message.ts'
import { deliveryOf } from './answer.ts'

export interface WebhookConfig {
  readonly kind: 'webhook'
  readonly url: string
  /** `whsec_` and 24 to 64 bytes in base64. */
  readonly secret: string
}

export interface Signed {
  readonly id: string
  /** In seconds. */
  readonly timestamp: number
  readonly body: string
}

/** The value of `webhook-signature`. */
export function signature(secret: string, { id, timestamp, body }: Signed): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
}

export const isWebhookSecret = (secret: string): boolean => {
  if (!/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/.test(secret)) return false
  const { length } = Buffer.from(secret.slice(6), 'base64')
  return length >= 24 && length <= 64
}

export function webhook(
  { url, secret }: WebhookConfig,
  { clock, allowPrivate }: { readonly clock: Clock } & Pick<HttpSending, 'allowPrivate'>,
): Send {
  return async (outgoing): Promise<Delivery> => {
    const now = clock.now()
    const signed = { id: outgoing.id, timestamp: Math.floor(now / 1000), body: JSON.stringify(bodyOf(outgoing, now)) }
    const headers = {
      'content-type': 'application/json',
      'webhook-id': signed.id,
      'webhook-timestamp': String(signed.timestamp),
      'webhook-signature': signature(secret, signed),
    }
    return deliveryOf(await httpSend({ url, method: 'POST', headers, body: signed.body, allowPrivate }))
  }
}
