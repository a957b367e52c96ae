/** Interprets the response of a receiver: delivered, retry, or gone. */
import type { HttpAnswer } from '../http-send.ts'
import type { Delivery } from '../message.ts'

/** The status with which a receiver says that it is gone for good. */
const GONE = 410

export function deliveryOf(answer: HttpAnswer): Delivery {
  if (!answer.ok) return answer
  const { status, text } = answer
  if (status >= 200 && status < 300) return { ok: true }
  // Redirects are not followed, because they could lead anywhere.
  const words = plain(text)
  const error = words === '' ? `the receiver answered ${status}` : `the receiver answered ${status}: ${words}`
  return status === GONE ? { ok: false, error, gone: true } : { ok: false, error }
}

const plain = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, 200)
