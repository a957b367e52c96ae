/** What the answer of a receiver means for a notification: taken, to be tried again, or never wanted again. */
import type { HttpAnswer } from '../http-send.ts'
import type { Delivery } from '../message.ts'

/** The receiver is gone for good, and says so. */
const GONE = 410

export function deliveryOf(answer: HttpAnswer): Delivery {
  if (!answer.ok) return answer
  const { status, text } = answer
  if (status >= 200 && status < 300) return { ok: true }
  // A redirect is not followed: it could lead anywhere.
  const words = plain(text)
  const error = words === '' ? `the receiver answered ${status}` : `the receiver answered ${status}: ${words}`
  return status === GONE ? { ok: false, error, gone: true } : { ok: false, error }
}

const plain = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, 200)
